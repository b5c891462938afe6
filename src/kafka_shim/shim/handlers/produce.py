"""0 Produce, versions 0-13. Appends one batch per partition.

A transactional batch needs WRITE on the transactional id, or every partition gets
TRANSACTIONAL_ID_AUTHORIZATION_FAILED (53); an idempotent one needed IDEMPOTENT_WRITE before
KIP-679. Then WRITE is checked on each topic; since version 13 an unknown topic id gets
UNKNOWN_TOPIC_ID (100) before that (KIP-516). With acks=0 there is no response: any error closes the
connection (KIP-98, KIP-890).
"""

from collections import Counter
from collections.abc import Iterable

from kafka_shim.authorizer.requirements import (
    PRODUCE_IDEMPOTENT,
    PRODUCE_TOPIC,
    PRODUCE_TRANSACTIONAL_ID,
)
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from kafka_shim.protocol.records.batches import NO_PRODUCER, Batch
from kafka_shim.protocol.releases.records import RecordFacts
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.handlers.common.topic_access import topic_error
from kafka_shim.shim.handlers.producing.appending import (
    NOTHING_APPENDED,
    check_and_append,
    check_produce_request,
)
from kafka_shim.shim.handlers.producing.produced_rows import (
    ProducedRow,
    ProducedTopic,
    group_produced_entries,
    null_records_error,
    resolve_duplicate_rows,
)
from kafka_shim.shim.handlers.producing.record_checks import RecordsRejected
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.wait import NoResponse

IDS_SINCE = 13
LEADERS_SINCE = 10
"""From here on a response of a node that does not lead names the one that does (KIP-951)."""
SILENT = 0
NAMELESS = ""
"""No transactional id, where old brokers ask for permission all the same: on any, or none."""


def handle(request: ProduceRequest, context: RequestContext) -> ProduceResponse | NoResponse:
    first_batches, topics = group_produced_entries(request, context)
    error = _producer_access_error(request, first_batches, context)
    if error:
        response = _error_response(topics, error)
    else:
        response = _append_to_partitions(request, topics, context)
    if request.acks == SILENT:
        responses = (row for topic in response.responses for row in topic.partition_responses)
        return NoResponse.CLOSE if any(row.error_code for row in responses) else NoResponse.SILENT
    return response


error_response = mirroring_error_builder(
    ProduceResponse,
    request_field_names={"responses": "topic_data", "partition_responses": "partition_data"},
    constant_fields={"base_offset": -1},
)


def _error_response(topics: Iterable[ProducedTopic], error: ErrorCode) -> ProduceResponse:
    """Return the response to a rejected request: each partition once, no topic without any."""
    return ProduceResponse(
        responses=[
            TopicProduceResponse(
                name=rows.topic.name,
                topic_id=rows.topic.topic_id,
                partition_responses=[
                    _failed_partition_row(index, RecordsRejected(error))
                    for index in rows.partitions
                ],
            )
            for rows in topics
            if rows.partitions
        ]
    )


def _producer_access_error(
    request: ProduceRequest, first_batches: list[Batch], context: RequestContext
) -> ErrorCode:
    """Return the error for which the whole request fails."""
    if context.facts.records.last_partition_makes_produce_transactional:
        first_batches = first_batches[-1:]
    is_transactional = is_idempotent = False
    for batch in first_batches:
        if batch.attributes and batch.is_transactional:
            is_transactional = True
        if batch.producer_id > NO_PRODUCER:
            is_idempotent = True
    if is_transactional:
        error = context.facts.records.missing_transactional_id_error
        if request.transactional_id is None and error:
            context.access.declare_no_further_checks()
            return error
        return context.access.denial_error(
            PRODUCE_TRANSACTIONAL_ID, request.transactional_id or NAMELESS
        )
    if is_idempotent:
        return context.access.denial_error(PRODUCE_IDEMPOTENT)
    context.access.declare_no_further_checks()
    return NO_ERROR


def _append_to_partitions(
    request: ProduceRequest, topics: Iterable[ProducedTopic], context: RequestContext
) -> ProduceResponse:
    """Append partition by partition; each succeeds or fails on its own."""
    facts = context.facts.records
    produced: list[tuple[ProducedTopic, str, ErrorCode]] = []
    has_nulls = False
    entries = Counter(topic.name for topic in request.topic_data)
    for rows in topics:
        name, error = _resolve_topic(rows, entries, context)
        produced.append((rows, name, error))
        has_nulls = has_nulls or rows.has_nulls
    null_error = NO_ERROR
    if has_nulls and facts.null_records_fail_whole_produce:
        null_error = null_records_error(produced, context)
    responses = []
    for topic, name, error in produced:
        partition_rows = []
        for given in topic.partitions.values():  # a comprehension takes longer here
            row = _append_to_partition(name, given, error or null_error, request, context, facts)
            partition_rows.append(row)
        if partition_rows:
            data = topic.topic
            responses.append(TopicProduceResponse(data.name, data.topic_id, partition_rows))
    response = ProduceResponse(responses)
    if context.version >= LEADERS_SINCE:
        _add_current_leaders(response, context)
    return response


def _resolve_topic(
    rows: ProducedTopic, entries: Counter[str], context: RequestContext
) -> tuple[str, ErrorCode]:
    """Return the topic's name and the error for which its partitions fail.

    Since 4.1, partitions are checked, and not the entries of topics.
    """
    topic = rows.topic
    name = topic.name
    if context.version >= IDS_SINCE:
        topic_by_id = context.cluster.topics.by_id(topic.topic_id)
        if topic_by_id is None:
            return "", ErrorCode.UNKNOWN_TOPIC_ID
        name = topic_by_id.name
    count = entries[name]
    if context.facts.access.produce_checks_partitions:
        count = sum(map(len, rows.partitions.values()))
    error = topic_error(context, PRODUCE_TOPIC, name, count) if count else NO_ERROR
    return name, error


def _append_to_partition(
    name: str,
    rows: list[ProducedRow],
    error: ErrorCode,
    request: ProduceRequest,
    context: RequestContext,
    facts: RecordFacts,
) -> PartitionProduceResponse:
    """Return the row of a partition. If the request has it twice, the last readable entry is
    appended, and the error is that of an unreadable one; older releases use only the last entry.
    """
    index = rows[0].index
    if error:
        return _failed_partition_row(index, RecordsRejected(error))
    partition = context.cluster.topics.led_partition(name, index)
    if partition is None:
        return _failed_partition_row(index, _missing_partition_error(name, request, context))
    if not facts.repeated_produce_partition_checks_all_batches:
        rows = rows[-1:]
    readable: ProducedRow | None = rows[0]
    unreadable = None
    batch = rows[0].batch
    if len(rows) > 1 or batch is None or batch.attributes:
        readable, unreadable = resolve_duplicate_rows(rows, context.version, facts)
    appended = NOTHING_APPENDED
    try:
        if readable is not None:
            appended = check_and_append(name, partition, readable, request, context, facts)
    except RecordsRejected as refused:
        unreadable = unreadable or refused
    start = partition.log.start_offset
    if unreadable is not None:
        return _failed_partition_row(
            index, unreadable, start if unreadable.returns_log_start else -1
        )
    return PartitionProduceResponse(index, 0, appended.base_offset, appended.append_time_ms, start)


def _missing_partition_error(
    name: str, request: ProduceRequest, context: RequestContext
) -> RecordsRejected:
    """Return the error for a missing partition; releases that check topics only find it late."""
    if context.facts.records.fetch_keeps_missing_partitions_in_order:
        try:
            check_produce_request(name, request, context)
        except RecordsRejected as rejection:
            return rejection
    return RecordsRejected(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def _failed_partition_row(
    index: int, rejection: RecordsRejected, start_offset: int = -1
) -> PartitionProduceResponse:
    return PartitionProduceResponse(
        index=index,
        error_code=rejection.error,
        base_offset=-1,
        log_start_offset=start_offset,
        record_errors=[
            BatchIndexAndErrorMessage(batch_index=at, batch_index_error_message=text or None)
            for at, text in rejection.records
        ],
        error_message=rejection.message,
    )


def _add_current_leaders(response: ProduceResponse, context: RequestContext) -> None:
    """Add the leaders of the partitions that this node does not lead (KIP-951)."""
    leaders = set()
    for topic in response.responses:
        for row in topic.partition_responses:
            if row.error_code != ErrorCode.NOT_LEADER_OR_FOLLOWER:
                continue
            topic_by_id = context.cluster.topics.by_id(topic.topic_id)
            name = topic.name if topic_by_id is None else topic_by_id.name
            partition = context.cluster.topics.led_partition(name, row.index)
            assert partition is not None
            row.current_leader = LeaderIdAndEpoch(partition.leader_id, partition.leader_epoch)
            leaders.add(partition.leader_id)
    if leaders:
        response.node_endpoints = [
            NodeEndpoint(*broker) for broker in context.live_broker_endpoints_among(leaders)
        ]
