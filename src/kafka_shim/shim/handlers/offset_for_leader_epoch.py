"""23 OffsetForLeaderEpoch, versions 0-4. End offsets of leader epochs (KIP-101, KIP-279, KIP-320).

CLUSTER_ACTION allows every topic; since 2.1 DESCRIBE on a topic allows that one. Denied topics come
last. A missing partition gets UNKNOWN_TOPIC_OR_PARTITION (3) only if the caller has permission.
"""

from msgspec import structs

from kafka_shim.authorizer.requirements import OFFSET_FOR_LEADER_EPOCH
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
    OffsetForLeaderTopicResult,
)
from kafka_shim.shim.handlers.common.fetching import leader_epoch_error
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext

EPOCHS_SINCE = 1


def handle(
    request: OffsetForLeaderEpochRequest, context: RequestContext
) -> OffsetForLeaderEpochResponse:
    if context.facts.records.epoch_lookup_merges_repeated_partitions:
        request = _merge_duplicate_partitions(request)
    context.access.check_cluster_need(OFFSET_FOR_LEADER_EPOCH)
    allowed, denied = context.access.split_allowed(
        OFFSET_FOR_LEADER_EPOCH, request.topics, lambda topic: topic.topic
    )
    denial = context.cluster.policy.bind(OFFSET_FOR_LEADER_EPOCH).error
    return OffsetForLeaderEpochResponse(
        topics=[
            *(_end_offsets_of_topic(topic, context) for topic in allowed),
            *_failed_topics(denied, denial),
        ]
    )


error_response = mirroring_error_builder(
    OffsetForLeaderEpochResponse, constant_fields={"leader_epoch": -1}
)


def _failed_topics(
    topics: list[OffsetForLeaderTopic], error: ErrorCode
) -> list[OffsetForLeaderTopicResult]:
    return [_failed_topic(topic, error) for topic in topics]


def _merge_duplicate_partitions(
    request: OffsetForLeaderEpochRequest,
) -> OffsetForLeaderEpochRequest:
    """Merge duplicate topics and partitions; the last entry counts."""
    partitions_by_topic: dict[str, dict[int, OffsetForLeaderPartition]] = {}
    for topic in request.topics:
        partitions_by_topic.setdefault(topic.topic, {}).update(
            {partition.partition: partition for partition in topic.partitions}
        )
    topics = [
        OffsetForLeaderTopic(topic=name, partitions=list(partitions.values()))
        for name, partitions in partitions_by_topic.items()
    ]
    return structs.replace(request, topics=topics)


def _end_offsets_of_topic(
    topic: OffsetForLeaderTopic, context: RequestContext
) -> OffsetForLeaderTopicResult:
    return OffsetForLeaderTopicResult(
        topic=topic.topic,
        partitions=[
            _end_offset_of_partition(topic.topic, request_partition, context)
            for request_partition in topic.partitions
        ],
    )


def _end_offset_of_partition(
    name: str, request_partition: OffsetForLeaderPartition, context: RequestContext
) -> EpochEndOffset:
    partition = context.cluster.topics.led_partition(name, request_partition.partition)
    if partition is None:
        error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    elif not partition.is_led_with_open_log_by(context.node_id):
        error = ErrorCode.NOT_LEADER_OR_FOLLOWER
    else:
        error = leader_epoch_error(partition, request_partition.current_leader_epoch)
    if error is not NO_ERROR or partition is None:
        return EpochEndOffset(error_code=error, partition=request_partition.partition)
    log = partition.log
    leader_epoch, end_offset = log.end_offset_for_epoch(request_partition.leader_epoch)
    is_before = request_partition.leader_epoch < 0 or log.end_offset == 0
    if is_before and not context.facts.records.first_leader_epoch_starts_at_creation:
        leader_epoch, end_offset = -1, -1
    return EpochEndOffset(
        partition=request_partition.partition,
        leader_epoch=leader_epoch if context.version >= EPOCHS_SINCE else -1,
        end_offset=end_offset,
    )


def _failed_topic(topic: OffsetForLeaderTopic, error: ErrorCode) -> OffsetForLeaderTopicResult:
    return OffsetForLeaderTopicResult(
        topic=topic.topic,
        partitions=[
            EpochEndOffset(error_code=error, partition=request_partition.partition)
            for request_partition in topic.partitions
        ],
    )
