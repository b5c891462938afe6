"""47 OffsetDelete, version 0. Deletes a group's offsets of topics it no longer reads (KIP-496).

DELETE on the group, READ on each topic. A group error, INVALID_GROUP_ID (24), GROUP_ID_NOT_FOUND
(69) or NON_EMPTY_GROUP (68), replaces the results of all topics.
"""

from collections.abc import Collection

from kafka_shim.authorizer.requirements import OFFSET_DELETE_GROUP, OFFSET_DELETE_TOPIC
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from kafka_shim.protocol.releases.groups import GroupFacts
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.handlers.common.topic_access import TopicErrors
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.groups.group import Group

ROWS_MAX = 1_000_000
BY_GROUP = frozenset({ErrorCode.NONE, ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC})
"""What groups say; since 4.0 such a response stays as it is, unless others were found before."""


def handle(request: OffsetDeleteRequest, context: RequestContext) -> OffsetDeleteResponse:
    context.access.require(OFFSET_DELETE_GROUP, request.group_id)
    names = [topic.name for topic in request.topics]
    errors = list(map(TopicErrors(context, OFFSET_DELETE_TOPIC, names).error, names))
    error = context.group_coordinator_error(request.group_id)
    if error is not ErrorCode.NONE:
        return error_response(request, error, None)
    group = context.cluster.groups.find_current(request.group_id)
    error = _group_error(request.group_id, group)
    if error is not ErrorCode.NONE:
        return error_response(request, error, None)
    assert group is not None
    topics = [
        OffsetDeleteResponseTopic(
            name=topic.name,
            partitions=[
                OffsetDeleteResponsePartition(
                    partition_index=partition.partition_index,
                    error_code=_delete_offset(group, topic, partition, denial, context),
                )
                for partition in topic.partitions
            ],
        )
        for topic, denial in zip(request.topics, errors, strict=True)
    ]
    codes = _distinct_error_codes(topics)
    failed_names = {
        topic.name
        for topic, denial in zip(request.topics, errors, strict=True)
        if denial is not ErrorCode.NONE or context.cluster.topics.get(topic.name) is None
    }
    is_by_group = codes <= BY_GROUP and not failed_names
    if not (context.facts.groups.java_group_coordinator and is_by_group):
        topics = _merge_topics(topics, failed_names, context.facts.groups)
    if ErrorCode.NONE in codes:
        context.cluster.groups.finish_offset_deletion(group)
    if context.facts.groups.offset_delete_lists_topic_per_partition:
        topics = _repeat_topic_per_partition(topics)
    return OffsetDeleteResponse(topics=topics)


def _distinct_error_codes(topics: list[OffsetDeleteResponseTopic]) -> set[int]:
    return {partition.error_code for topic in topics for partition in topic.partitions}


def _repeat_topic_per_partition(
    topics: list[OffsetDeleteResponseTopic],
) -> list[OffsetDeleteResponseTopic]:
    """Return each topic as often as it has partitions, like 2.4.

    DEVIATION: limit the response, which grows with the square of a topic's partitions.
    """
    rows = sum(len(topic.partitions) ** 2 for topic in topics)
    if rows > ROWS_MAX:
        raise CloseConnection(f"the response to an OffsetDelete has more than {ROWS_MAX} rows")
    return [topic for topic in topics for _ in topic.partitions]


def _merge_topics(
    topics: list[OffsetDeleteResponseTopic], failed_names: Collection[str], facts: GroupFacts
) -> list[OffsetDeleteResponseTopic]:
    """Merge topics. Partitions are repeated since 3.5 if the group did not handle them, and always
    since 4.0; before, the last entry counts. Since 3.5 a failed topic is listed without partitions.
    """
    rows_by_topic: dict[str, dict[int, OffsetDeleteResponsePartition]] = {}  # each in its place
    positions: dict[tuple[str, int], list[int]] = {}
    if facts.failed_commit_lists_each_partition:
        rows_by_topic = {topic.name: {} for topic in topics if topic.name in failed_names}
    responses = ((topic.name, partition) for topic in topics for partition in topic.partitions)
    for place, (name, partition) in enumerate(responses):
        rows = rows_by_topic.setdefault(name, {})
        is_by_group = partition.error_code in BY_GROUP
        repeats = facts.java_group_coordinator or (
            facts.failed_commit_lists_each_partition and not is_by_group
        )
        key = name, partition.partition_index
        if not repeats:
            for former in positions.pop(key, ()):
                del rows[former]
        positions.setdefault(key, []).append(place)
        rows[place] = partition
    return [
        OffsetDeleteResponseTopic(name=name, partitions=list(rows.values()))
        for name, rows in rows_by_topic.items()
    ]


error_response = mirroring_error_builder(OffsetDeleteResponse, constant_fields={"topics": []})


def _group_error(group_id: str, group: Group | None) -> ErrorCode:
    if not group_id:
        return ErrorCode.INVALID_GROUP_ID
    return ErrorCode.GROUP_ID_NOT_FOUND if group is None else group.offset_delete_error()


def _delete_offset(
    group: Group,
    request_topic: OffsetDeleteRequestTopic,
    partition: OffsetDeleteRequestPartition,
    denial: ErrorCode,
    context: RequestContext,
) -> ErrorCode:
    if denial is not ErrorCode.NONE:
        return denial
    topic = context.cluster.topics.get(request_topic.name)
    if topic is None or topic.led_partition(partition.partition_index) is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if group.subscribes_to(topic.name):
        return ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    context.cluster.groups.delete_offset(group.group_id, topic.topic_id, partition.partition_index)
    return ErrorCode.NONE
