"""91 AlterShareGroupOffsets, version 0. Sets the start offsets of a share group (KIP-932).

READ on the group, READ on each topic. The group must have no members, and is created if it does not
exist. A group error, INVALID_GROUP_ID (24), NON_EMPTY_GROUP (68) or GROUP_ID_NOT_FOUND (69),
replaces the results of all topics.
"""

from collections.abc import Iterable

from kafka_shim.authorizer.requirements import (
    ALTER_SHARE_GROUP_OFFSETS_GROUP,
    ALTER_SHARE_GROUP_OFFSETS_TOPIC,
)
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
    AlterShareGroupOffsetsResponse,
    AlterShareGroupOffsetsResponsePartition,
    AlterShareGroupOffsetsResponseTopic,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.handlers.common.topic_access import topic_error
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.groups.share.share_group import ShareGroup
from kafka_shim.shim.state.share_partitions.share_state import ERROR_MESSAGES
from kafka_shim.shim.state.topics import NO_ID

MESSAGES = ERROR_MESSAGES | {
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "READ on the topic is denied",
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "unknown partition of the topic",
}
COORDINATOR_ERRORS = (ErrorCode.INVALID_REQUEST, ErrorCode.FENCED_STATE_EPOCH)


def handle(
    request: AlterShareGroupOffsetsRequest, context: RequestContext
) -> AlterShareGroupOffsetsResponse:
    context.require_group_protocol("share", "share groups are disabled")
    denial = context.access.denial_error(ALTER_SHARE_GROUP_OFFSETS_GROUP, request.group_id)
    if denial is not ErrorCode.NONE:
        raise RequestRejected(denial, "READ on the group is denied")
    errors = [
        topic_error(context, ALTER_SHARE_GROUP_OFFSETS_TOPIC, topic.topic_name)
        for topic in request.topics
    ]
    if not request.group_id:
        raise RequestRejected(ErrorCode.INVALID_GROUP_ID, "the group id is empty")
    context.require_group_coordinator(request.group_id)
    group = context.cluster.member_requests.require_empty_share_group(request.group_id)
    rows: dict[str, AlterShareGroupOffsetsResponseTopic] = {}
    for topic, denial in zip(request.topics, errors, strict=True):
        row = _alter_topic_offsets(group, topic, denial, context)
        known = rows.setdefault(topic.topic_name, row)
        if known is not row:
            known.partitions += row.partitions
    initialized = _initialized_partitions(rows.values())
    if initialized is not None:
        group.add_initialized_partitions(initialized)
    return AlterShareGroupOffsetsResponse(responses=list(rows.values()))


def _initialized_partitions(
    rows: Iterable[AlterShareGroupOffsetsResponseTopic],
) -> dict[bytes, set[int]] | None:
    """Return the partitions by topic id; None if the share coordinator rejected one, since then the
    group records none of them.
    """
    partitions_by_topic: dict[bytes, set[int]] = {}
    for row in rows:
        for partition in row.partitions:
            if partition.error_code in COORDINATOR_ERRORS:
                return None
            if partition.error_code == ErrorCode.NONE:
                partitions_by_topic.setdefault(row.topic_id, set()).add(partition.partition_index)
    return partitions_by_topic


error_response = mirroring_error_builder(AlterShareGroupOffsetsResponse)


def _alter_topic_offsets(
    group: ShareGroup,
    request_topic: AlterShareGroupOffsetsRequestTopic,
    denial: ErrorCode,
    context: RequestContext,
) -> AlterShareGroupOffsetsResponseTopic:
    topic = context.cluster.topics.get(request_topic.topic_name)
    rows = []
    for partition in request_topic.partitions:
        error = denial
        if denial is ErrorCode.NONE and topic is not None:
            error = _alter_offset(group, topic.topic_id, partition, context)
        rows.append(
            AlterShareGroupOffsetsResponsePartition(
                partition_index=partition.partition_index,
                error_code=error,
                error_message=MESSAGES.get(error),
            )
        )
    return AlterShareGroupOffsetsResponseTopic(
        topic_name=request_topic.topic_name,
        topic_id=NO_ID if topic is None else topic.topic_id,
        partitions=rows,
    )


def _alter_offset(
    group: ShareGroup,
    topic_id: bytes,
    request_partition: AlterShareGroupOffsetsRequestPartition,
    context: RequestContext,
) -> ErrorCode:
    context.cluster.groups.save_group(group)  # though the partition is missing
    return group.initialize_share_state_at(
        topic_id, request_partition.partition_index, request_partition.start_offset
    )
