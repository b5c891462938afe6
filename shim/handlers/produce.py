"""0 Produce, versions 0-13. Appends one batch a partition, as the producer sent it.

A transactional batch needs WRITE on the transactional id, or every partition is 53; an idempotent
one needed IDEMPOTENT_WRITE before KIP-679. Then WRITE topic by topic; from version 13 on an unknown
topic id is 100 before it (KIP-516). With acks=0 there is no answer: any error closes the connection
(KIP-98, KIP-890).
"""

from collections.abc import Callable, Iterator
from itertools import islice

import msgspec

from authorizer.requirements import (
    PRODUCE_IDEMPOTENT,
    PRODUCE_TOPIC,
    PRODUCE_TRANSACTIONAL_ID,
)
from protocol.error_codes import ErrorCode
from protocol.errors import DecodeError
from protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from protocol.messages.produce_response import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from protocol.records import NO_PRODUCER, Batch, batches, entry_sizes
from shim.context import RequestContext
from shim.dispatch import NoAnswer
from shim.errors import CloseConnection
from shim.handling.appending import Appended, append, append_any_format
from shim.handling.record_checks import FORMAT_2_SINCE, RefusedRecords, limits_of, only_batch
from shim.handling.topic_access import topic_error
from shim.state.topics import Partition

IDS_SINCE = 13
LEADERS_SINCE = 10
"""From here on an answer of a node that does not lead names the one that does (KIP-951)."""
ALL = -1
SILENT = 0
NAMELESS = ""
"""No transactional id, where old brokers ask for permission all the same: on any, or none."""
ADMIN_CLIENT_ID = "__admin_client"
"""The one client that may write to internal topics."""


def handle(request: ProduceRequest, context: RequestContext) -> ProduceResponse | NoAnswer:
    first_batches = list(_first_batches(request, context))
    error = _request_error(request, first_batches, context)
    if error is not ErrorCode.NONE:
        response = refuse(_merged(request, context), error, None)
    else:
        response = _append_all(request, context)
    if request.acks == SILENT:
        rows = (row for topic in response.responses for row in topic.partition_responses)
        return NoAnswer.CLOSE if any(row.error_code for row in rows) else NoAnswer.SILENT
    return response


def refuse(
    request: ProduceRequest,
    error: ErrorCode,
    message: str | None,
) -> ProduceResponse:
    return ProduceResponse(
        responses=[
            TopicProduceResponse(
                name=topic.name,
                topic_id=topic.topic_id,
                partition_responses=[
                    _failed(partition.index, RefusedRecords(error, message))
                    for partition in topic.partition_data
                ],
            )
            for topic in request.topic_data
        ]
    )


def _merged(request: ProduceRequest, context: RequestContext) -> ProduceRequest:
    """The request with each partition once, as it is refused before there are topic ids."""
    if context.version >= IDS_SINCE:
        return request
    topics = [
        msgspec.structs.replace(topic, partition_data=list(partitions.values()))
        for topic, partitions in _by_topic(request).values()
    ]
    return msgspec.structs.replace(request, topic_data=topics)


def _first_batches(request: ProduceRequest, context: RequestContext) -> Iterator[Batch]:
    """The first batch of each partition, where it is one of format 2."""
    for topic in request.topic_data:
        for partition in topic.partition_data:
            records = partition.records or b""
            try:
                sizes = list(islice(entry_sizes(records, partial=True), 2))
                if sizes and sizes[0][2] == 2:
                    yield from batches(records[: sizes[0][1]])
            except DecodeError:
                sizes = []
            _check_form([magic for *_, magic in sizes], context)


def _check_form(formats: list[int], context: RequestContext) -> None:
    """Close the connection where a release could not parse the records of a partition."""
    behaviour = context.record_behaviour
    is_unreadable = not formats or formats[0] > 2
    if context.version < FORMAT_2_SINCE:
        if is_unreadable and behaviour.unreadable_old_closes:
            raise CloseConnection("a partition has no readable message")
    elif (is_unreadable and behaviour.unreadable_closes) or (
        formats != [2] and behaviour.wrong_format_closes
    ):
        raise CloseConnection("a partition has no readable batch, or more than one")


def _request_error(
    request: ProduceRequest, first_batches: list[Batch], context: RequestContext
) -> ErrorCode:
    """Why nothing at all may be appended."""
    if context.record_behaviour.last_batch_counts:
        first_batches = first_batches[-1:]
    if any(batch.is_transactional for batch in first_batches):
        error = context.record_behaviour.nameless_transaction_error
        if request.transactional_id is None and error is not ErrorCode.NONE:
            context.access.nothing_more()
            return error
        return context.access.error(PRODUCE_TRANSACTIONAL_ID, request.transactional_id or NAMELESS)
    if any(batch.producer_id > NO_PRODUCER for batch in first_batches):
        return context.access.error(PRODUCE_IDEMPOTENT)
    context.access.nothing_more()
    return ErrorCode.NONE


def _append_all(request: ProduceRequest, context: RequestContext) -> ProduceResponse:
    """Append partition by partition; each succeeds or fails on its own."""
    rows: dict[tuple[str, bytes], dict[int, PartitionProduceResponse]] = {}
    for topic, partitions in _by_topic(request).values():
        name, error = _topic(topic, context)
        answers = rows.setdefault((topic.name, topic.topic_id), {})
        for data in partitions.values():
            answers[data.index] = _answer(name, data, error, request, context)
    response = ProduceResponse(
        responses=[
            TopicProduceResponse(
                name=name, topic_id=topic_id, partition_responses=list(answers.values())
            )
            for (name, topic_id), answers in rows.items()
            if answers
        ]
    )
    if context.version >= LEADERS_SINCE:
        _name_leaders(response, context)
    return response


def _by_topic(
    request: ProduceRequest,
) -> dict[tuple[str, bytes], tuple[TopicProduceData, dict[int, PartitionProduceData]]]:
    """Topics and partitions as a map: of a partition that is named twice the last counts."""
    found: dict[tuple[str, bytes], tuple[TopicProduceData, dict[int, PartitionProduceData]]] = {}
    for topic in request.topic_data:
        _, partitions = found.setdefault((topic.name, topic.topic_id), (topic, {}))
        for data in topic.partition_data:
            partitions[data.index] = data
    return found


def _topic(topic: TopicProduceData, context: RequestContext) -> tuple[str, ErrorCode]:
    """The topic's name, and why nothing may be appended to it."""
    name = topic.name
    if context.version >= IDS_SINCE:
        found = context.cluster.topics.by_id(topic.topic_id)
        if found is None:
            return "", ErrorCode.UNKNOWN_TOPIC_ID
        name = found.name
    return name, topic_error(context, PRODUCE_TOPIC, name)


def _answer(
    name: str,
    data: PartitionProduceData,
    error: ErrorCode,
    request: ProduceRequest,
    context: RequestContext,
) -> PartitionProduceResponse:
    partition = context.cluster.topics.partition(name, data.index)
    if error is ErrorCode.NONE and partition is None:
        error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if error is not ErrorCode.NONE or partition is None:
        return _failed(data.index, RefusedRecords(error))
    try:
        appended = _append(name, partition, data, request, context)
    except RefusedRecords as refused:
        start = partition.log.start_offset if refused.tells_start else -1
        return _failed(data.index, refused, start)
    return PartitionProduceResponse(
        index=data.index,
        base_offset=appended.base_offset,
        log_append_time_ms=appended.append_time_ms,
        log_start_offset=partition.log.start_offset,
    )


def _append(
    name: str,
    partition: Partition,
    data: PartitionProduceData,
    request: ProduceRequest,
    context: RequestContext,
) -> Appended:
    """The checks of one partition in Kafka's order, then the append."""
    is_format_2 = context.version >= FORMAT_2_SINCE
    if data.records is None:
        raise RefusedRecords(ErrorCode.UNKNOWN_SERVER_ERROR, tells_start=True)
    batch = None
    if is_format_2:
        batch = only_batch(data.records, context.version, context.record_behaviour)
    if not ALL <= request.acks <= 1:
        raise RefusedRecords(ErrorCode.INVALID_REQUIRED_ACKS)
    topics = context.cluster.topics
    if name in topics.internal_names and context.header.client_id != ADMIN_CLIENT_ID:
        raise RefusedRecords(ErrorCode.INVALID_TOPIC_EXCEPTION)
    if partition.leader_id != context.node_id:
        raise RefusedRecords(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    if batch is not None and batch.is_transactional:
        _check_transaction(name, partition, batch, request, context)
    _check_replicas(partition, request.acks, context)
    now_ms = context.cluster.clock.now_ms()
    limits = limits_of(partition.log.settings, context.record_behaviour, now_ms)
    if batch is not None:
        return append(partition, batch, limits, now_ms)
    if not data.records:
        return Appended(-1)
    return append_any_format(partition, data.records, limits, now_ms)


def _check_transaction(
    name: str,
    partition: Partition,
    batch: Batch,
    request: ProduceRequest,
    context: RequestContext,
) -> None:
    """See that the partition is part of the producer's transaction, or make it so (KIP-890)."""
    behaviour = context.record_behaviour
    if batch.producer_id <= NO_PRODUCER or not behaviour.verifies_partitions:
        return
    producer = partition.log.producers.get(batch.producer_id)
    is_open = producer is not None and producer.is_open
    if is_open and not behaviour.verifies_epochs:
        return
    if is_open and producer is not None and producer.epoch == batch.producer_epoch:
        return
    assert request.transactional_id is not None  # else the request was refused
    owner = batch.producer_id, batch.producer_epoch
    partition.log.producers.tried(*owner, batch.base_sequence)
    ask: Callable[..., ErrorCode] = context.cluster.transactions.verify
    target: object = (name, partition.index)
    if context.version >= behaviour.adds_partitions_since:
        ask, target = context.cluster.transactions.add_partitions, [target]
    error = ask(request.transactional_id, *owner, target)
    if error is ErrorCode.INVALID_TXN_STATE:
        if context.version >= behaviour.abortable_since:
            raise RefusedRecords(ErrorCode.TRANSACTION_ABORTABLE)
        raise RefusedRecords(error, "the partition was not added to the transaction")
    if error is ErrorCode.PRODUCER_FENCED:
        error = ErrorCode.INVALID_PRODUCER_EPOCH
    if error is not ErrorCode.NONE:
        message = "the transaction is another's" if behaviour.says_what_is_unverified else None
        raise RefusedRecords(error, message)


def _check_replicas(partition: Partition, acks: int, context: RequestContext) -> None:
    if acks != ALL:
        return
    needed = partition.log.settings.min_insync_replicas
    if context.record_behaviour.caps_min_isr:
        needed = min(needed, len(partition.replicas))
    if len(partition.isr) < needed:
        raise RefusedRecords(ErrorCode.NOT_ENOUGH_REPLICAS, tells_start=True)


def _failed(
    index: int, refused: RefusedRecords, start_offset: int = -1
) -> PartitionProduceResponse:
    return PartitionProduceResponse(
        index=index,
        error_code=refused.error,
        base_offset=-1,
        log_start_offset=start_offset,
        record_errors=[
            BatchIndexAndErrorMessage(batch_index=at, batch_index_error_message=text or None)
            for at, text in refused.records
        ],
        error_message=refused.message,
    )


def _name_leaders(response: ProduceResponse, context: RequestContext) -> None:
    """Tell who leads the partitions that this node does not lead (KIP-951)."""
    leaders = set()
    for topic in response.responses:
        for row in topic.partition_responses:
            if row.error_code != ErrorCode.NOT_LEADER_OR_FOLLOWER:
                continue
            found = context.cluster.topics.by_id(topic.topic_id)
            name = topic.name if found is None else found.name
            partition = context.cluster.topics.partition(name, row.index)
            assert partition is not None
            row.current_leader = LeaderIdAndEpoch(partition.leader_id, partition.leader_epoch)
            leaders.add(partition.leader_id)
    if leaders:
        response.node_endpoints = [
            NodeEndpoint(node_id, host, port, rack)
            for node_id, host, port, rack in context.brokers()
            if node_id in leaders
        ]
