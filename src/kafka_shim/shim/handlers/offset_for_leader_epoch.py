"""23 OffsetForLeaderEpoch, versions 0-4. End offsets of leader epochs (KIP-101, KIP-279, KIP-320).

CLUSTER_ACTION allows every topic; since 2.1 DESCRIBE on a topic allows that one. Denied topics come
last. A missing partition gets UNKNOWN_TOPIC_OR_PARTITION (3) only if the caller has permission.
"""

from kafka_shim.authorizer.requirements import OFFSET_FOR_LEADER_EPOCH
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kafka_shim.protocol.messages.offset_for_leader_epoch_response import (
    EpochEndOffset,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)
from kafka_shim.shim.handlers.common.fetching import leader_epoch_error
from kafka_shim.shim.handlers.common.mirrored_error import mirrored_error
from kafka_shim.shim.request.context import RequestContext

EPOCHS_SINCE = 1


def handle(
    request: OffsetForLeaderEpochRequest, context: RequestContext
) -> OffsetForLeaderEpochResponse:
    topics = request.topics
    if context.facts.records.epoch_lookup_merges_repeated_partitions:
        topics = context.offload(_merged, topics)
    allowed, denied = context.access.split(
        OFFSET_FOR_LEADER_EPOCH, topics, lambda topic: topic.topic
    )
    denial = context.cluster.policy.bound(OFFSET_FOR_LEADER_EPOCH).error
    return OffsetForLeaderEpochResponse(
        topics=[
            *(_ends(topic, context) for topic in context.time_sliced(allowed)),
            *context.offload(_all_failed, denied, denial),
        ]
    )


error_response = mirrored_error(OffsetForLeaderEpochResponse, constant_fields={"leader_epoch": -1})


def _all_failed(
    topics: list[OffsetForLeaderTopic], error: ErrorCode
) -> list[OffsetForLeaderTopicResult]:
    return [_failed(topic, error) for topic in topics]


def _merged(topics: list[OffsetForLeaderTopic]) -> list[OffsetForLeaderTopic]:
    """Merge duplicate topics and partitions; the last entry counts."""
    found: dict[str, dict[int, OffsetForLeaderPartition]] = {}
    for topic in topics:
        found.setdefault(topic.topic, {}).update(
            {partition.partition: partition for partition in topic.partitions}
        )
    return [
        OffsetForLeaderTopic(topic=name, partitions=list(partitions.values()))
        for name, partitions in found.items()
    ]


def _ends(topic: OffsetForLeaderTopic, context: RequestContext) -> OffsetForLeaderTopicResult:
    return OffsetForLeaderTopicResult(
        topic=topic.topic,
        partitions=[
            _end(topic.topic, wanted, context) for wanted in context.time_sliced(topic.partitions)
        ],
    )


def _end(name: str, wanted: OffsetForLeaderPartition, context: RequestContext) -> EpochEndOffset:
    partition = context.cluster.topics.partition(name, wanted.partition)
    if partition is None:
        error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    elif not partition.is_led_by(context.node_id):
        error = ErrorCode.NOT_LEADER_OR_FOLLOWER
    else:
        error = leader_epoch_error(partition, wanted.current_leader_epoch)
    if error is not ErrorCode.NONE or partition is None:
        return EpochEndOffset(error_code=error, partition=wanted.partition)
    log = partition.log
    leader_epoch, end_offset = log.end_of_epoch(wanted.leader_epoch)
    is_before = wanted.leader_epoch < 0 or log.end_offset == 0
    if is_before and not context.facts.records.first_leader_epoch_starts_at_creation:
        leader_epoch, end_offset = -1, -1
    return EpochEndOffset(
        partition=wanted.partition,
        leader_epoch=leader_epoch if context.version >= EPOCHS_SINCE else -1,
        end_offset=end_offset,
    )


def _failed(topic: OffsetForLeaderTopic, error: ErrorCode) -> OffsetForLeaderTopicResult:
    return OffsetForLeaderTopicResult(
        topic=topic.topic,
        partitions=[
            EpochEndOffset(error_code=error, partition=wanted.partition)
            for wanted in topic.partitions
        ],
    )
