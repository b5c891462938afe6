"""90 DescribeShareGroupOffsets, versions 0-1. Start offsets of share groups (KIP-932), and since
version 1 their lag (KIP-1226).

DESCRIBE on each group, then on its topics. A denied topic gets TOPIC_AUTHORIZATION_FAILED (29) if
the request names it, and is left out otherwise. A partition that is not read has offset -1 and no
error; a missing group or topic is no error either. A request without topics returns the partitions
that the group itself initialised, not those that a broker initialised for it.

DEVIATION: Kafka returns nothing for a partition that the topic does not have; here it has offset
-1.
"""

from kafka_shim.authorizer.requirements import (
    DESCRIBE_SHARE_GROUP_OFFSETS_ALL_TOPICS,
    DESCRIBE_SHARE_GROUP_OFFSETS_GROUP,
    DESCRIBE_SHARE_GROUP_OFFSETS_TOPIC,
)
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
    DescribeShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsResponseGroup,
    DescribeShareGroupOffsetsResponsePartition,
    DescribeShareGroupOffsetsResponseTopic,
)
from kafka_shim.protocol.records.record_codec import wrap_int64
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.topics import NO_ID, Topic

UNKNOWN = -1
"""Value of an unknown offset or lag."""

LAG_SINCE = 1

Row = DescribeShareGroupOffsetsResponsePartition


def handle(
    request: DescribeShareGroupOffsetsRequest, context: RequestContext
) -> DescribeShareGroupOffsetsResponse:
    context.access.declare_no_further_checks()  # a request without groups asks nothing
    return DescribeShareGroupOffsetsResponse(
        groups=[_describe_group_offsets(group, context) for group in request.groups]
    )


error_response = mirroring_error_builder(
    DescribeShareGroupOffsetsResponse, constant_fields={"topics": []}
)


def _failed_group(
    group_id: str, error: ErrorCode, message: str | None = None
) -> DescribeShareGroupOffsetsResponseGroup:
    return DescribeShareGroupOffsetsResponseGroup(
        group_id=group_id, error_code=error, error_message=message
    )


def _describe_group_offsets(
    request_group: DescribeShareGroupOffsetsRequestGroup, context: RequestContext
) -> DescribeShareGroupOffsetsResponseGroup:
    group_id = request_group.group_id
    if "share" not in context.cluster.groups.settings.enabled_protocols:
        return _failed_group(group_id, ErrorCode.UNSUPPORTED_VERSION)
    denial = context.access.denial_error(DESCRIBE_SHARE_GROUP_OFFSETS_GROUP, group_id)
    if denial is not ErrorCode.NONE:
        return _failed_group(group_id, denial)
    allowed, denied = context.access.split_allowed(
        DESCRIBE_SHARE_GROUP_OFFSETS_TOPIC,
        request_group.topics or [],
        lambda topic: topic.topic_name,
    )
    topics: list[DescribeShareGroupOffsetsResponseTopic] = []
    if allowed or request_group.topics is None:  # else the coordinator has nothing to say
        error = context.group_coordinator_error(group_id)
        if error is not ErrorCode.NONE:
            return _failed_group(group_id, error)
        topics = (
            _describe_requested_topics(group_id, allowed, context)
            if allowed
            else _describe_all_visible_topics(group_id, context)
        )
        if any(topic.topic_id != NO_ID and not (group_id and topic.partitions) for topic in topics):
            # Kafka asks for the state of share partitions, whose keys cannot be made
            text = "an empty group id, or a topic without partitions"
            return _failed_group(group_id, ErrorCode.UNKNOWN_SERVER_ERROR, text)
    topics += [_denied_topic_row(topic) for topic in denied]
    return DescribeShareGroupOffsetsResponseGroup(group_id=group_id, topics=topics)


def _describe_requested_topics(
    group_id: str, allowed: list[DescribeShareGroupOffsetsRequestTopic], context: RequestContext
) -> list[DescribeShareGroupOffsetsResponseTopic]:
    """Return one row per existing topic, however often it is listed; others have one each time."""
    topics = context.cluster.topics
    topics_in_response: list[tuple[str, list[int]]] = []
    indexes_by_topic: dict[str, dict[int, None]] = {}
    for row in allowed:
        if row.topic_name in topics:
            indexes = indexes_by_topic.setdefault(row.topic_name, {})
            indexes.update(dict.fromkeys(row.partitions))
        else:
            topics_in_response.append((row.topic_name, row.partitions))
    topics_in_response += [(name, list(indexes)) for name, indexes in indexes_by_topic.items()]
    rows = []
    for name, partitions in topics_in_response:
        topic = topics.get(name)
        rows.append(
            DescribeShareGroupOffsetsResponseTopic(
                topic_name=name,
                topic_id=NO_ID if topic is None else topic.topic_id,
                partitions=[
                    _partition_offset_row(group_id, topic, at, context) for at in partitions
                ],
            )
        )
    return rows


def _denied_topic_row(
    topic: DescribeShareGroupOffsetsRequestTopic,
) -> DescribeShareGroupOffsetsResponseTopic:
    denial = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    rows = [_denied_partition_row(at, denial) for at in topic.partitions]
    return DescribeShareGroupOffsetsResponseTopic(topic_name=topic.topic_name, partitions=rows)


def _describe_all_visible_topics(
    group_id: str, context: RequestContext
) -> list[DescribeShareGroupOffsetsResponseTopic]:
    group = context.cluster.groups.find_share_group(group_id)
    initialized = {} if group is None else group.initialized_partitions
    known = [
        topic
        for topic_id in list(initialized)
        if (topic := context.cluster.topics.by_id(topic_id)) is not None
    ]
    visible = context.access.filter_visible(
        DESCRIBE_SHARE_GROUP_OFFSETS_ALL_TOPICS, known, lambda topic: topic.name
    )
    return [
        DescribeShareGroupOffsetsResponseTopic(
            topic_name=topic.name,
            topic_id=topic.topic_id,
            partitions=[
                _partition_offset_row(group_id, topic, at, context)
                for at in sorted(initialized[topic.topic_id])
            ],
        )
        for topic in visible
    ]


def _denied_partition_row(partition: int, error: ErrorCode) -> Row:
    return Row(
        partition_index=partition,
        start_offset=UNKNOWN,
        error_code=error,
        error_message="DESCRIBE on the topic is denied",
    )


def _partition_offset_row(
    group_id: str, topic: Topic | None, index: int, context: RequestContext
) -> Row:
    row = Row(partition_index=index, start_offset=UNKNOWN)
    partition = None if topic is None else topic.led_partition(index)
    if topic is None or partition is None:
        return row
    _, state = context.cluster.share_states.read_without_fencing((group_id, topic.topic_id, index))
    if state is None or state.start_offset == UNKNOWN:
        return row
    row.start_offset = state.start_offset
    if context.version >= LAG_SINCE and state.finished_count >= 0:
        lag = partition.log.end_offset - state.start_offset - state.finished_count
        row.lag = wrap_int64(lag)
    return row
