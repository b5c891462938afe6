"""2 ListOffsets, versions 0-11. Offsets by time, and log start and end (KIP-79, KIP-734).

DESCRIBE on each topic, checked before existence; denied topics come last. Version 0 returns lists
of offsets. A partition that is listed twice gets INVALID_REQUEST (42). A special timestamp gets
UNSUPPORTED_VERSION (35) before the version that introduced it (KIP-405, KIP-1005).
"""

from collections import Counter
from collections.abc import Set

from kafka_shim.authorizer.requirements import LIST_OFFSETS_TOPIC
from kafka_shim.protocol.enums import ISOLATION_LEVELS
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
    ListOffsetsTopicResponse,
)
from kafka_shim.protocol.releases.records import NEVER, RecordFacts
from kafka_shim.shim.errors import CloseConnection, RequestRejected
from kafka_shim.shim.handlers.common.duplicates import deduplicate_by_topic
from kafka_shim.shim.handlers.common.fetching import DEBUGGING_REPLICA_ID, leader_epoch_error
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.logs.log import PartitionLog
from kafka_shim.shim.state.logs.offset_lookup import (
    EARLIEST,
    EARLIEST_LOCAL,
    NEWEST,
    find_offset_by_timestamp,
    first_version_of_timestamp,
)
from kafka_shim.shim.state.topics import Partition

CACHED_SINCE = 1
EPOCHS_SINCE = 4
CONSUMER = -1
_NONE_TWICE: Set[tuple[str, int]] = frozenset()


def handle(request: ListOffsetsRequest, context: RequestContext) -> ListOffsetsResponse:
    allowed, denied = context.access.split_allowed(
        LIST_OFFSETS_TOPIC, request.topics, lambda topic: topic.name
    )
    facts = context.facts.records
    has_unknown_level = request.isolation_level not in ISOLATION_LEVELS
    if has_unknown_level and facts.unknown_isolation_level_closes_connection:
        raise CloseConnection(f"unknown isolation level {request.isolation_level}")
    if has_unknown_level and allowed and facts.unknown_isolation_level_fails_whole_list_offsets:
        raise RequestRejected(ErrorCode.UNKNOWN_SERVER_ERROR)
    named = [
        (topic.name, partition.partition_index)
        for topic in request.topics
        for partition in topic.partitions
    ]
    twice = _duplicate_partitions(named) if len(set(named)) < len(named) else _NONE_TWICE
    names = {topic.name for topic in request.topics if topic.partitions}
    has_no_repetitions = not twice and len(names) == len(request.topics)
    listing = _OffsetLookup(request, twice, context)
    listed = [listing.look_up_topic(topic) for topic in allowed]
    failed = []
    if denied:
        denial = context.cluster.policy.bind(LIST_OFFSETS_TOPIC).error
        failed = [_topic_error_row(topic, denial) for topic in denied]
    return ListOffsetsResponse(
        topics=[
            *(
                listed
                if has_no_repetitions or facts.list_offsets_lists_each_repeated_partition
                else _merge_topics(listed)
            ),
            *(
                failed
                if has_no_repetitions or facts.list_offsets_lists_each_denied_partition
                else _merge_topics(failed)
            ),
        ]
    )


error_response = mirroring_error_builder(ListOffsetsResponse, constant_fields={"timestamp": -1})


class _OffsetLookup:
    """The parameters that all partitions of a request share."""

    def __init__(
        self,
        request: ListOffsetsRequest,
        duplicates: Set[tuple[str, int]],
        context: RequestContext,
    ) -> None:
        self._context = context
        self._duplicates = duplicates
        self._replica_id = request.replica_id
        is_consumer = request.replica_id == CONSUMER
        self._isolation_level = request.isolation_level if is_consumer else None
        self._has_unknown_level = is_consumer and request.isolation_level not in ISOLATION_LEVELS

    def look_up_topic(self, topic: ListOffsetsTopic) -> ListOffsetsTopicResponse:
        rows = []
        for request_partition in topic.partitions:
            index = request_partition.partition_index
            if (topic.name, index) in self._duplicates and self._rejects_duplicate_partitions:
                rows.append(_failed_partition_row(index, ErrorCode.INVALID_REQUEST))
            else:
                rows.append(self._look_up_partition(topic.name, request_partition))
        return ListOffsetsTopicResponse(name=topic.name, partitions=rows)

    @property
    def _rejects_duplicate_partitions(self) -> bool:
        always = self._context.facts.records.list_offsets_v0_rejects_repeated_partitions
        return self._context.version > 0 or always

    def _look_up_partition(
        self, name: str, request_partition: ListOffsetsPartition
    ) -> ListOffsetsPartitionResponse:
        index = request_partition.partition_index
        partition = self._context.cluster.topics.led_partition(name, index)
        error = NO_ERROR
        if request_partition.timestamp < EARLIEST:
            error = self._special_timestamp_error(request_partition.timestamp)
        if error is NO_ERROR and self._has_unknown_level:
            error = ErrorCode.UNKNOWN_SERVER_ERROR
        if error is NO_ERROR and partition is None:
            error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            if self._replica_id == DEBUGGING_REPLICA_ID:
                error = ErrorCode(self._context.facts.topics.alter_log_dir_missing_replica_error)
        if error is not NO_ERROR or partition is None:
            return _failed_partition_row(index, error)
        error = self._partition_error(partition, request_partition)
        if error is not NO_ERROR:
            return _failed_partition_row(index, error)
        if self._context.version == 0:
            now_ms = self._context.cluster.clock.now_ms()
            facts = self._context.facts.records
            offsets = _offsets_for_version_0(partition.log, request_partition, now_ms, facts)
            return ListOffsetsPartitionResponse(partition_index=index, old_style_offsets=offsets)
        facts = self._context.facts.records
        match = find_offset_by_timestamp(
            partition.log, request_partition.timestamp, self._isolation_level, facts
        )
        return ListOffsetsPartitionResponse(
            partition_index=index,
            timestamp=match.timestamp,
            offset=match.offset,
            leader_epoch=match.leader_epoch if self._context.version >= EPOCHS_SINCE else -1,
        )

    def _special_timestamp_error(self, timestamp: int) -> ErrorCode:
        """Return the error for a special timestamp before the version that introduced it."""
        facts = self._context.facts.records
        is_too_early = first_version_of_timestamp(timestamp, facts) > self._context.version
        if is_too_early and facts.unknown_negative_timestamps_are_rejected:
            return ErrorCode.UNSUPPORTED_VERSION
        return NO_ERROR

    def _partition_error(
        self, partition: Partition, request_partition: ListOffsetsPartition
    ) -> ErrorCode:
        version = self._context.version
        if version == 0 and request_partition.max_num_offsets < 0:
            return ErrorCode.UNKNOWN_SERVER_ERROR
        is_debugger = self._replica_id == DEBUGGING_REPLICA_ID
        readable = partition.replicas if is_debugger else [partition.leader_id]
        if self._context.node_id not in readable or not partition.is_open:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return leader_epoch_error(partition, request_partition.current_leader_epoch)


def _duplicate_partitions(partitions: list[tuple[str, int]]) -> Set[tuple[str, int]]:
    return {partition for partition, count in Counter(partitions).items() if count > 1}


def _merge_topics(
    topics: list[ListOffsetsTopicResponse],
) -> list[ListOffsetsTopicResponse]:
    """Merge repeated topics and partitions, and leave out topics without partitions."""
    rows = ((topic.name, row.partition_index, row) for topic in topics for row in topic.partitions)
    return [
        ListOffsetsTopicResponse(name=name, partitions=partitions)
        for name, partitions in deduplicate_by_topic(rows)
    ]


def _offsets_for_version_0(
    log: PartitionLog, request_partition: ListOffsetsPartition, now_ms: int, facts: RecordFacts
) -> list[int]:
    """Return offsets for version 0: end and start of the segments before a time, the newest first.

    The shim has one segment, and the time of its last write is assumed to be now.
    """
    offsets = [log.start_offset]
    if (
        request_partition.timestamp not in (EARLIEST, EARLIEST_LOCAL)
        and log.high_watermark > log.start_offset
    ):
        offsets.insert(0, log.high_watermark)
    knows = first_version_of_timestamp(request_partition.timestamp, facts) < NEVER
    if request_partition.timestamp < now_ms and (
        not knows or request_partition.timestamp == NEWEST
    ):
        return []
    return offsets[: request_partition.max_num_offsets]


def _failed_partition_row(index: int, error: ErrorCode) -> ListOffsetsPartitionResponse:
    return ListOffsetsPartitionResponse(partition_index=index, error_code=error)


def _topic_error_row(topic: ListOffsetsTopic, error: ErrorCode) -> ListOffsetsTopicResponse:
    return ListOffsetsTopicResponse(
        name=topic.name,
        partitions=[
            _failed_partition_row(request_partition.partition_index, error)
            for request_partition in topic.partitions
        ],
    )
