"""9 OffsetFetch, versions 0-10. A group's committed offsets; since version 8 of many groups.

For each group: DESCRIBE on it (READ before KIP-163), then DESCRIBE on its topics. Depending on the
version, the denial of a group is returned on the partitions, for the request or on the group, or
not at all. A denied topic gets TOPIC_AUTHORIZATION_FAILED (29) after the others if it is named, and
is left out otherwise. A partition without a commit has offset -1 and no error. `require_stable`
rejects offsets that an open transaction may change (KIP-447). Version 0 reads from ZooKeeper;
version 10 identifies topics by id (KIP-848).
"""

from collections import Counter
from collections.abc import Iterable

from msgspec import structs

from kafka_shim.authorizer.requirement import DenialEffect
from kafka_shim.authorizer.requirements import (
    OFFSET_FETCH_ALL_TOPICS,
    OFFSET_FETCH_GROUP,
    OFFSET_FETCH_TOPIC,
)
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from kafka_shim.protocol.releases.groups import GroupFacts
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.groups.offsets import (
    NO_EPOCH,
    NO_OFFSET,
    Offsets,
    missing_partition_topic_id,
    topic_name_of_missing_partition,
)
from kafka_shim.shim.state.topics import NO_ID, Topic, Topics

CACHED_SINCE = 0
FROM_ZOOKEEPER = 0
TOP_CODE_SINCE = 2
MANY_SINCE = 8
BY_ID_SINCE = 10


def handle(request: OffsetFetchRequest, context: RequestContext) -> OffsetFetchResponse:
    if context.version >= MANY_SINCE:
        context.access.declare_no_further_checks()  # a request without groups asks nothing
        require_stable = request.require_stable
        rows = [_fetch_group_offsets(group, require_stable, context) for group in request.groups]
        if len(rows) > 1:
            rows = _merge_groups(rows, context.facts.groups)
        return OffsetFetchResponse(groups=rows)
    request = _convert_to_groups_request(request)
    row = _fetch_group_offsets(request.groups[0], request.require_stable, context)
    return OffsetFetchResponse(
        error_code=row.error_code, topics=_topics_before_version_8(row.topics)
    )


def _merge_groups(
    rows: list[OffsetFetchResponseGroup], facts: GroupFacts
) -> list[OffsetFetchResponseGroup]:
    """Return the rows of a request that may list a group twice, as this release answers it."""
    if facts.offset_fetch_lists_each_repeated_group:
        return rows
    by_name = {row.group_id: row for row in rows}
    times = Counter(row.group_id for row in rows)
    denied = ErrorCode.GROUP_AUTHORIZATION_FAILED
    if facts.offset_fetch_fails_for_repeated_group and any(
        times[name] > 1 and row.error_code != denied for name, row in by_name.items()
    ):
        error = ErrorCode.UNKNOWN_SERVER_ERROR
        return [OffsetFetchResponseGroup(group_id=name, error_code=error) for name in by_name]
    return list(by_name.values())


def error_response(
    request: OffsetFetchRequest, error: ErrorCode, message: str | None
) -> OffsetFetchResponse:
    group = _convert_to_groups_request(request).groups[0]
    topics = [_failed_topic(topic, error) for topic in group.topics or ()]
    return OffsetFetchResponse(
        error_code=error,
        topics=_topics_before_version_8(topics),
        groups=[
            OffsetFetchResponseGroup(group_id=group.group_id, error_code=error)
            for group in request.groups
        ],
    )


def _convert_to_groups_request(request: OffsetFetchRequest) -> OffsetFetchRequest:
    """Return a request before version 8, which has one group, in the form of later ones."""
    topics = None
    if request.topics is not None:
        topics = [
            OffsetFetchRequestTopics(topic.name, NO_ID, topic.partition_indexes)
            for topic in request.topics
        ]
    group = OffsetFetchRequestGroup(request.group_id, topics=topics)
    return structs.replace(request, topics=None, groups=[group])


def _fetch_group_offsets(
    group: OffsetFetchRequestGroup, require_stable: bool, context: RequestContext
) -> OffsetFetchResponseGroup:
    error = context.access.denial_error(OFFSET_FETCH_GROUP, group.group_id)
    if error is not NO_ERROR:
        effect = context.cluster.policy.bind(OFFSET_FETCH_GROUP).effect_in_version(context.version)
        each = effect is DenialEffect.EACH and context.version < MANY_SINCE
        topics = _failed_topics(group, error, context) if each else []
        return OffsetFetchResponseGroup(group.group_id, topics, error)
    if (
        context.version == FROM_ZOOKEEPER
        and not context.facts.groups.zookeeper_offset_commit_is_supported
    ):
        error = ErrorCode.UNSUPPORTED_VERSION
        topics = _failed_topics(group, error, context)
        return OffsetFetchResponseGroup(group.group_id, topics, error)
    error = context.group_coordinator_error(group.group_id)
    group_state = context.cluster.groups.find_current(group.group_id)
    if error is NO_ERROR and group_state is not None:
        error = group_state.fetch_error(group.member_id, group.member_epoch)
    if error is not NO_ERROR:
        each = context.version < TOP_CODE_SINCE
        topics = _failed_topics(group, error, context) if each else []
        return OffsetFetchResponseGroup(group.group_id, topics, error)
    if group.topics is None:
        topics = _fetch_all_visible_topics(group.group_id, require_stable, context)
    else:
        topics = _fetch_requested_topics(group.group_id, group.topics, require_stable, context)
    return OffsetFetchResponseGroup(group.group_id, topics, error)


def _fetch_requested_topics(
    group_id: str,
    topics: Iterable[OffsetFetchRequestTopics],
    require_stable: bool,
    context: RequestContext,
) -> list[OffsetFetchResponseTopics]:
    """Return the requested topics, with the failed ones last.

    A topic is checked once, and so is the empty name of unknown ids.
    """
    fetched_topics, failed_topics = [], []
    requested = [(_topic_name(topic, context), topic) for topic in topics]
    counts = Counter(name for name, _ in requested)
    denials = {
        name: context.access.denial_error(OFFSET_FETCH_TOPIC, name, count)
        for name, count in counts.items()
    }
    for name, request_topic in requested:
        error = denials[name]
        if context.version >= BY_ID_SINCE and not name:
            error = ErrorCode.UNKNOWN_TOPIC_ID
        if error is NO_ERROR:
            fetched_topics.append(
                _fetch_topic_offsets(group_id, request_topic, name, require_stable, context)
            )
        else:
            failed_topics.append(_failed_topic(request_topic, error))
    if context.facts.groups.denied_offset_fetch_lists_each_topic:
        return _merge_duplicate_rows(fetched_topics, context) + failed_topics
    return _merge_duplicate_rows(fetched_topics + failed_topics, context)


def _topic_name(topic: OffsetFetchRequestTopics, context: RequestContext) -> str:
    """Return the name of a requested topic; empty for an unknown id."""
    if context.version < BY_ID_SINCE:
        return topic.name
    known = context.cluster.topics.by_id(topic.topic_id)
    return "" if known is None else known.name


def _merge_duplicate_rows(
    topics: list[OffsetFetchResponseTopics], context: RequestContext
) -> list[OffsetFetchResponseTopics]:
    """Merge the rows of older releases: each partition once, and no topic without partitions."""
    if context.facts.groups.java_group_coordinator and context.version != FROM_ZOOKEEPER:
        return topics
    return _merge_duplicates(topics)


def _merge_duplicates(
    topics: list[OffsetFetchResponseTopics],
) -> list[OffsetFetchResponseTopics]:
    rows_by_name: dict[str, dict[int, OffsetFetchResponsePartitions]] = {}
    for topic in topics:
        rows_by_name.setdefault(topic.name, {}).update(
            {row.partition_index: row for row in topic.partitions}
        )
    return [
        OffsetFetchResponseTopics(name, NO_ID, list(rows.values()))
        for name, rows in rows_by_name.items()
        if rows
    ]


def _failed_topics(
    group: OffsetFetchRequestGroup, error: ErrorCode, context: RequestContext
) -> list[OffsetFetchResponseTopics]:
    facts, from_zookeeper = context.facts.groups, context.version == FROM_ZOOKEEPER
    if facts.failed_offset_fetch_v1_is_empty and not from_zookeeper:
        return []
    topics = [_failed_topic(request_topic, error) for request_topic in group.topics or ()]
    repeats = facts.denied_offset_fetch_lists_each_topic and not from_zookeeper
    return topics if repeats else _merge_duplicate_rows(topics, context)


def _fetch_topic_offsets(
    group_id: str,
    request_topic: OffsetFetchRequestTopics,
    name: str,
    require_stable: bool,
    context: RequestContext,
) -> OffsetFetchResponseTopics:
    groups = context.cluster.groups
    topic = context.cluster.topics.get(name)
    indexes = request_topic.partition_indexes
    if context.version == FROM_ZOOKEEPER:
        rows = [_offset_from_zookeeper(group_id, topic, at, context) for at in indexes]
    else:
        ids = [] if topic is None else [topic.topic_id]
        if not context.facts.groups.commit_rejects_missing_partition:
            ids.append(missing_partition_topic_id(name))
        rows = [_offset_row(groups.offsets, group_id, ids, at, require_stable) for at in indexes]
    return OffsetFetchResponseTopics(request_topic.name, request_topic.topic_id, rows)


def _offset_row(
    offsets: Offsets,
    group_id: str,
    topic_ids: Iterable[bytes],
    partition: int,
    require_stable: bool,
) -> OffsetFetchResponsePartitions:
    """Return the row of the offset that is stored under one of these topic ids."""
    for topic_id in topic_ids:
        if require_stable and offsets.has_pending_offset(group_id, topic_id, partition):
            return _failed_partition_row(partition, ErrorCode.UNSTABLE_OFFSET_COMMIT)
        stored = offsets.committed_offset(group_id, topic_id, partition)
        if stored is not None:
            return OffsetFetchResponsePartitions(
                partition, stored.offset, stored.leader_epoch, stored.metadata
            )
    return OffsetFetchResponsePartitions(partition, NO_OFFSET, NO_EPOCH)


def _offset_from_zookeeper(
    group_id: str, topic: Topic | None, partition: int, context: RequestContext
) -> OffsetFetchResponsePartitions:
    """Return the row of the offset from ZooKeeper, which has no metadata."""
    checks = context.facts.groups.commit_rejects_missing_partition
    if topic is None or (checks and topic.led_partition(partition) is None):
        return _failed_partition_row(partition, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if not group_id:  # an empty element of a path
        return _failed_partition_row(partition, ErrorCode.UNKNOWN_SERVER_ERROR)
    stored = context.cluster.groups.zookeeper_offsets.committed_offset(
        group_id, topic.topic_id, partition
    )
    if stored is None:
        return _failed_partition_row(partition, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return OffsetFetchResponsePartitions(partition, stored.offset)


def _fetch_all_visible_topics(
    group_id: str, require_stable: bool, context: RequestContext
) -> list[OffsetFetchResponseTopics]:
    offsets = context.cluster.groups.offsets
    topics = context.cluster.topics
    named_rows = [
        (name, topic_id, rows)
        for topic_id, rows in list(offsets.offsets_by_topic(group_id))
        if (name := _topic_name_of_stored_id(topic_id, topics)) is not None
    ]
    visible = context.access.filter_visible(OFFSET_FETCH_ALL_TOPICS, named_rows, lambda row: row[0])

    def topic_row(
        name: str, topic_id: bytes, partitions: Iterable[int]
    ) -> OffsetFetchResponseTopics:
        rows = [
            _offset_row(offsets, group_id, (topic_id,), at, require_stable) for at in partitions
        ]
        return OffsetFetchResponseTopics(name, topic_id, rows)

    topics_fetched = [topic_row(name, topic_id, tuple(rows)) for name, topic_id, rows in visible]
    return _merge_duplicate_rows(topics_fetched, context)


def _topic_name_of_stored_id(topic_id: bytes, topics: Topics) -> str | None:
    topic = topics.by_id(topic_id)
    return topic_name_of_missing_partition(topic_id) if topic is None else topic.name


def _failed_topic(
    request_topic: OffsetFetchRequestTopics, error: ErrorCode
) -> OffsetFetchResponseTopics:
    rows = [_failed_partition_row(at, error) for at in request_topic.partition_indexes]
    return OffsetFetchResponseTopics(request_topic.name, request_topic.topic_id, rows)


def _failed_partition_row(partition: int, error: ErrorCode) -> OffsetFetchResponsePartitions:
    return OffsetFetchResponsePartitions(partition, NO_OFFSET, NO_EPOCH, error_code=error)


def _topics_before_version_8(
    topics: Iterable[OffsetFetchResponseTopics],
) -> list[OffsetFetchResponseTopic]:
    """Return the topics in the form of the versions before 8."""
    return [
        OffsetFetchResponseTopic(
            topic.name,
            [
                OffsetFetchResponsePartition(
                    row.partition_index,
                    row.committed_offset,
                    row.committed_leader_epoch,
                    row.metadata,
                    row.error_code,
                )
                for row in topic.partitions
            ],
        )
        for topic in topics
    ]
