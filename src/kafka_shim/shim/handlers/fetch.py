"""1 Fetch, versions 0-18. Reads records, waits for them, and keeps fetch sessions (KIP-227).

Consumers need READ on each topic, also for partitions of their session. Since version 13 an unknown
topic id gets UNKNOWN_TOPIC_ID (100) before that check (KIP-516); if a topic was created
again, sessions of the old one get INCONSISTENT_TOPIC_ID (103). A request with a replica id needs
CLUSTER_ACTION instead, for all partitions. The null topic id is unknown, too, but with a row after
it, or in a session of releases that hash its missing name, the request fails with
UNKNOWN_SERVER_ERROR (-1). The wait ends when a partition fails or enough bytes can be read.
"""

from collections import Counter
from collections.abc import Iterable

from msgspec.structs import replace

from kafka_shim.authorizer.requirements import FETCH_FOLLOWER, FETCH_TOPIC
from kafka_shim.protocol.codec.chunks import LONG_BYTES
from kafka_shim.protocol.enums import ISOLATION_LEVELS
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    NodeEndpoint,
    PartitionData,
)
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.handlers.common.fetching import (
    CURRENT_LEADER_SINCE,
    DEBUGGING_REPLICA_ID,
    ZSTD_SINCE,
    count_readable_bytes,
    down_convert_fetched_records,
    failed_partition_data,
    partition_read_error,
    partition_reader,
    read_partition,
    response_bytes_limit,
)
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.handlers.common.topic_access import topic_error
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.fetch_sessions import (
    IDS_SINCE,
    NO_SESSION,
    FetchSessionResult,
    FetchSessions,
    RequestedPartition,
)
from kafka_shim.shim.state.topics import NO_ID, Partition
from kafka_shim.shim.wait import PendingResponse, WaitResources

REPLICA_STATE_SINCE = 15
SESSIONS_SINCE = 7
FIRST_HARD_LIMIT = 3
"""First version with a limit for the whole answer, which a first batch may exceed (KIP-74)."""
NO_LIMIT = 2**31 - 1


def handle(
    request: FetchRequest, context: RequestContext
) -> FetchResponse | PendingResponse[FetchResponse]:
    context.access.declare_no_further_checks()  # an empty session has no topic to check
    if context.version < SESSIONS_SINCE:
        request.session_id, request.session_epoch = 0, -1
    sessions = context.cluster.fetch_sessions[context.node_id]
    fetch_round = sessions.begin_fetch(
        request,
        context.version,
        null_topic_id_fails=context.facts.records.null_topic_id_fails_fetch_session,
    )
    if fetch_round.error is not NO_ERROR:
        has_id = fetch_round.error is ErrorCode.UNKNOWN_SERVER_ERROR
        session_id = request.session_id if has_id else NO_SESSION
        return FetchResponse(error_code=fetch_round.error, session_id=session_id)
    fetch = _Fetch(request, context, sessions, fetch_round)
    if request.isolation_level not in ISOLATION_LEVELS:
        if context.facts.records.unknown_isolation_level_closes_connection:
            raise CloseConnection(f"unknown isolation level {request.isolation_level}")
        if fetch.has_permitted_partition():
            return _release_error_response(request, ErrorCode.UNKNOWN_SERVER_ERROR, context)
    return fetch.respond()


def _release_error_response(
    request: FetchRequest, error: ErrorCode, context: RequestContext
) -> FetchResponse:
    """Return the response of a request that failed as a whole, as this release builds it."""
    response = error_response(request, error, None)
    for topic in response.responses:
        for row in topic.partitions:
            if not context.facts.records.fetch_error_has_empty_aborted_list:
                row.aborted_transactions = None
            if not context.facts.records.failed_fetch_has_empty_records:
                row.records = None
    return response


def _replica_error(replica_id: int, context: RequestContext) -> ErrorCode:
    """Return the error for the leader's own replica id and, in early releases, an unknown one."""
    facts = context.facts.records
    if replica_id == context.node_id:
        return facts.leader_fetches_itself_error
    is_unknown = replica_id >= 0 and replica_id not in context.cluster.nodes
    return facts.unknown_replica_error if is_unknown else NO_ERROR


def error_response(request: FetchRequest, error: ErrorCode, message: str | None) -> FetchResponse:
    """Return the error on all partitions; on none where topics have ids (since version 13)."""
    response = _error_on_all_partitions(request, error, message)
    response.responses = [topic for topic in response.responses if topic.topic_id == NO_ID]
    return response


_error_on_all_partitions = mirroring_error_builder(
    FetchResponse,
    request_field_names={"responses": "topics", "partition_index": "partition"},
    constant_fields={"high_watermark": -1, "log_start_offset": -1, "records": b""},
)


_FetchRow = tuple[RequestedPartition, PartitionData]


class _Fetch:
    """One request: checked immediately, answered when enough can be read or the wait times out."""

    def __init__(
        self,
        request: FetchRequest,
        context: RequestContext,
        sessions: FetchSessions,
        fetch_round: FetchSessionResult,
    ) -> None:
        replica_id = request.replica_id
        if context.version >= REPLICA_STATE_SINCE:
            replica_id = request.replica_state.replica_id
        limited = context.version >= FIRST_HARD_LIMIT
        bytes_max = response_bytes_limit(
            request.max_bytes if limited else NO_LIMIT, context, is_follower=replica_id >= 0
        )
        self.reader = partition_reader(request, replica_id, bytes_max, context)
        self._request = request
        self._context = context
        self._round = fetch_round
        self._sessions = sessions
        self._errors: dict[int, ErrorCode] = {}  # by index in the round
        self._topics: dict[str, ErrorCode] = {}  # errors of the topics checked so far
        self._object_counts: Counter[str | None] = (
            Counter()
        )  # partitions by topic, if there are several
        self._partitions: list[Partition | None] = []
        self._wait_resources: WaitResources | None = None
        self._wait: PendingResponse[FetchResponse] | None = None

    def has_permitted_partition(self) -> bool:
        """Return whether a permitted partition exists; `respond` need not look again."""
        self._find_partitions()
        return any(True for _ in self._existing_partitions())

    def respond(self) -> FetchResponse | PendingResponse[FetchResponse]:
        if not self._partitions:
            self._find_partitions()
        if self.reader.is_follower:
            error = _replica_error(self.reader.replica_id, self._context)
            if error is not NO_ERROR and any(True for _ in self._existing_partitions()):
                return self._error_response(error)
        if self._is_ready_to_respond():
            return self._read_partitions()
        self.reader = replace(self.reader, has_waited=True)
        if self.reader.is_follower and self._is_ready_to_respond():
            return self._read_partitions()
        self._wait_resources = resources = WaitResources()
        self._wait = PendingResponse(resources.release)
        for partition in self._existing_partitions():
            resources.watch_changes(partition.log, self._try_respond)
        clock = self._context.cluster.clock
        resources.add_timer(
            clock.call_after_wait(self._request.max_wait_ms, self._respond_now).cancel
        )
        return self._wait

    def _error_response(self, error: ErrorCode) -> FetchResponse:
        """Return the response with this error for the whole request and each partition."""
        rows = (
            (
                requested,
                failed_partition_data(requested.fetch_partition.partition, error, self.reader),
            )
            for requested in self._round.partitions
        )
        return FetchResponse(error_code=error, responses=_group_adjacent_rows_by_topic(rows))

    def _find_partitions(self) -> None:
        """Find each partition or its error; check permission once per topic."""
        denial = NO_ERROR
        if self.reader.is_follower:
            denial = self._context.access.denial_error(FETCH_FOLLOWER)
        topics, uses_ids = self._context.cluster.topics, self.reader.version >= IDS_SINCE
        if len(self._round.partitions) > 1:
            self._object_counts = Counter(requested.topic for requested in self._round.partitions)
        for at, requested in enumerate(self._round.partitions):
            error = denial
            if error is NO_ERROR:
                error = self._cached_topic_error(requested.topic)
            partition = None
            if error is NO_ERROR and requested.topic is not None:
                index = requested.fetch_partition.partition
                partition = topics.led_partition(requested.topic, index)
                if partition is None and self.reader.replica_id == DEBUGGING_REPLICA_ID:
                    error = ErrorCode(
                        self._context.facts.topics.alter_log_dir_missing_replica_error
                    )
                elif partition is None:
                    error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                elif uses_ids and topics.by_id(requested.topic_id) is None:
                    # a topic of that name was created again after a session resolved its id
                    error = ErrorCode.INCONSISTENT_TOPIC_ID
            if error is not NO_ERROR:
                self._errors[at] = self._missing_partition_error(error, requested)
            self._partitions.append(partition)

    def _missing_partition_error(
        self, error: ErrorCode, requested: RequestedPartition
    ) -> ErrorCode:
        """Return the error of this release: some return a missing partition as a zstd error."""
        if (
            self.reader.version >= ZSTD_SINCE
            or not self.reader.facts.missing_partition_is_unsupported_compression
        ):
            return error
        topic, index = requested.topic or "", requested.fetch_partition.partition
        is_missing = self._context.cluster.topics.led_partition(topic, index) is None
        return ErrorCode.UNSUPPORTED_COMPRESSION_TYPE if is_missing else error

    def _cached_topic_error(self, topic: str | None) -> ErrorCode:
        if topic is None:
            return ErrorCode.UNKNOWN_TOPIC_ID
        errors_by_topic = self._topics
        if topic not in errors_by_topic:
            topics = self._context.cluster.topics
            if not self.reader.is_follower or self.reader.facts.followers_require_topic_read:
                count = self._object_counts[topic] if self._object_counts else 1
                errors_by_topic[topic] = topic_error(self._context, FETCH_TOPIC, topic, count)
            elif topics.led_topic(topic):
                errors_by_topic[topic] = NO_ERROR
            else:
                errors_by_topic[topic] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return errors_by_topic[topic]

    def _existing_partitions(self) -> Iterable[Partition]:
        return (partition for partition in self._partitions if partition is not None)

    def _is_ready_to_respond(self) -> bool:
        """Return whether enough bytes can be read, a partition fails, or waiting is useless."""
        request, reader, errors = self._request, self.reader, self._errors
        if request.max_wait_ms <= 0:
            return True
        bytes_ready, has_partitions = 0, False
        rows = zip(self._round.partitions, self._partitions, strict=True)
        for at, (requested, partition) in enumerate(rows):
            if partition is None:
                continue
            has_partitions = True
            if partition.log.is_closed or at in errors:
                return True
            if partition_read_error(partition, requested.fetch_partition, reader):
                return True
            bytes_ready += count_readable_bytes(partition, requested.fetch_partition, reader)
        return not has_partitions or bytes_ready >= min(request.min_bytes, reader.bytes_max)

    def _try_respond(self) -> None:
        if self._is_ready_to_respond():
            self._respond_now()

    def _respond_now(self) -> None:
        if self._wait_resources is not None:
            self._wait_resources.release()
        if self._wait is not None and not self._wait.is_finished:
            self._wait.complete(self._read_partitions())

    def _read_partitions(self) -> FetchResponse:
        rows = self._read_rows()
        if self._is_session_rejected():
            return self._null_topic_id_response()
        session_id, session_rows = self._sessions.end_fetch(
            self._round,
            rows,
            uses_ids=self.reader.version >= IDS_SINCE,
            is_follower=self.reader.is_follower,
        )
        if self.reader.version >= IDS_SINCE and _repeats_null_topic_id(session_rows):
            return self._null_topic_id_response()
        topics = _group_adjacent_rows_by_topic(session_rows)
        response = FetchResponse(session_id=session_id, responses=topics)
        if self.reader.version >= CURRENT_LEADER_SINCE:
            leaders = {data.current_leader.leader_id for _, data in session_rows} - {-1}
            brokers = self._context.live_broker_endpoints_among(leaders)
            response.node_endpoints = [NodeEndpoint(*broker) for broker in brokers]
        return response

    def _is_session_rejected(self) -> bool:
        """Return whether this release cannot begin a session with these partitions."""
        return (
            self._round.begins_session
            and self.reader.version >= IDS_SINCE
            and self.reader.facts.null_topic_id_fails_fetch_session
            and any(requested.topic_id == NO_ID for requested in self._round.partitions)
        )

    def _null_topic_id_response(self) -> FetchResponse:
        error = ErrorCode.UNKNOWN_SERVER_ERROR
        return FetchResponse(error_code=error, session_id=self._request.session_id)

    def _read_rows(self) -> list[_FetchRow]:
        """Read partitions until the response is full; return their rows, then the failed ones."""
        reader = self.reader
        read_rows: list[_FetchRow] = []
        failures: list[_FetchRow] = []
        bytes_left = reader.bytes_max
        whole_first = reader.version >= FIRST_HARD_LIMIT
        rows = zip(self._round.partitions, self._partitions, strict=True)
        for at, (requested, partition) in enumerate(rows):
            if partition is None:
                data = failed_partition_data(
                    requested.fetch_partition.partition, self._errors[at], reader
                )
                is_in_place = self._keeps_missing_in_order(requested.topic)
                (read_rows if is_in_place else failures).append((requested, data))
                continue
            if partition.log.is_closed:
                error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                data = failed_partition_data(
                    requested.fetch_partition.partition, error, reader, partition
                )
            elif at in self._errors:
                data = failed_partition_data(
                    requested.fetch_partition.partition, self._errors[at], reader, partition
                )
            else:
                data = read_partition(
                    partition,
                    requested.fetch_partition,
                    reader,
                    bytes_left,
                    whole_first=whole_first,
                )
            if data.records:
                whole_first = False
                bytes_left = max(0, bytes_left - len(data.records))
            offset = requested.fetch_partition.fetch_offset
            read_rows.append(
                (
                    requested,
                    down_convert_fetched_records(data, partition, offset, reader),
                )
            )
        if reader.bytes_max - bytes_left < LONG_BYTES:
            self._context.accepts_chunks = False
        if not reader.is_follower:  # the ids of consumers are resolved before anything else
            failures.sort(key=lambda row: row[1].error_code != ErrorCode.UNKNOWN_TOPIC_ID)
        return read_rows + failures

    def _keeps_missing_in_order(self, topic: str | None) -> bool:
        """Return whether a missing partition's row keeps its place, as in releases that check
        topics.
        """
        is_readable = self._topics.get(topic or "") is NO_ERROR
        return is_readable and self.reader.facts.fetch_keeps_missing_partitions_in_order


def _repeats_null_topic_id(rows: list[_FetchRow]) -> bool:
    """Return whether a row follows one of the null topic id.

    Real brokers then compare the row's topic with a name that is null, and fail.
    """
    return any(requested.topic_id == NO_ID for requested, _ in rows[:-1])


def _group_adjacent_rows_by_topic(
    rows: Iterable[_FetchRow],
) -> list[FetchableTopicResponse]:
    """Group adjacent rows of one topic into one entry."""
    topics: list[FetchableTopicResponse] = []
    for requested, data in rows:
        name = requested.topic or ""
        if not topics or (topics[-1].topic, topics[-1].topic_id) != (name, requested.topic_id):
            topics.append(FetchableTopicResponse(name, requested.topic_id, []))
        topics[-1].partitions.append(data)
    return topics
