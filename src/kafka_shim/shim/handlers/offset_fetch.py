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

import msgspec

from kafka_shim.authorizer.requirement import DenialEffect
from kafka_shim.authorizer.requirements import (
    OFFSET_FETCH_ALL_TOPICS,
    OFFSET_FETCH_GROUP,
    OFFSET_FETCH_TOPIC,
)
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
)
from kafka_shim.protocol.messages.offset_fetch_response import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from kafka_shim.protocol.releases.groups import GroupFacts
from kafka_shim.shim.handlers.common import long_requests
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.groups.offsets import (
    NO_EPOCH,
    NO_OFFSET,
    CommittedOffset,
    Offsets,
    stand_in_topic_id_of_missing_partition,
    topic_name_of_missing_partition,
)
from kafka_shim.shim.state.topics import NO_ID, Topic, Topics

FROM_ZOOKEEPER = 0
TOP_CODE_SINCE = 2
MANY_SINCE = 8
BY_ID_SINCE = 10


class _RequestTopic(msgspec.Struct, frozen=True):
    """A topic of the request, by name, or by id since version 10."""

    name: str
    topic_id: bytes
    partitions: tuple[int, ...]


class _RequestGroup(msgspec.Struct, frozen=True):
    """A group of the request, in a form common to all versions."""

    group_id: str
    member_id: str | None
    member_epoch: int
    topics: tuple[_RequestTopic, ...] | None  # None: all topics with offsets


class _ResponseTopic(msgspec.Struct, frozen=True):
    """A topic of the response: the error or the offset of each partition."""

    name: str
    topic_id: bytes
    partitions: tuple[int, ...]
    results: tuple[CommittedOffset | ErrorCode, ...]


class _GroupResponse(msgspec.Struct, frozen=True):
    error: ErrorCode
    topics: list[_ResponseTopic]


NOTHING = CommittedOffset(NO_OFFSET, NO_EPOCH)


def takes_long(request: OffsetFetchRequest, cluster: Cluster) -> bool:
    """Return whether all offsets of groups are requested, and there are many."""
    group_ids = [group.group_id for group in request.groups if group.topics is None]
    if not request.groups and request.topics is None:
        group_ids = [request.group_id]
    offsets = cluster.groups.offsets
    count = sum(
        len(rows) for group_id in group_ids for _, rows in offsets.offsets_by_topic(group_id)
    )
    return count > long_requests.MANY_ROWS


def handle(request: OffsetFetchRequest, context: RequestContext) -> OffsetFetchResponse:
    if context.version >= MANY_SINCE:
        context.access.declare_no_further_checks()  # a request without groups asks nothing
        groups = context.offload(_groups_of_request, request.groups)
        responses = [
            (group, _fetch_group_offsets(group, request.require_stable, context))
            for group in context.time_sliced(groups)
        ]
        rows = context.offload(_group_rows, responses)
        return OffsetFetchResponse(
            groups=context.offload(
                _merge_or_fail_repeated_groups_by_release, rows, context.facts.groups
            )
        )
    group = context.offload(_group_of_old_request, request)
    response = _fetch_group_offsets(group, request.require_stable, context)
    return OffsetFetchResponse(
        error_code=response.error,
        topics=context.offload(_topic_rows_before_groups, response.topics),
    )


def _merge_or_fail_repeated_groups_by_release(
    rows: list[OffsetFetchResponseGroup], facts: GroupFacts
) -> list[OffsetFetchResponseGroup]:
    """Return the rows of a request that may list a group twice, as this release answers it."""
    if facts.offset_fetch_lists_each_repeated_group:
        return rows
    by_name = {row.group_id: row for row in rows}
    times = Counter(row.group_id for row in rows)
    denied = ErrorCode.GROUP_AUTHORIZATION_FAILED
    if facts.offset_fetch_fails_for_repeated_group and any(
        times[name] > 1 and row.error_code is not denied for name, row in by_name.items()
    ):
        error = ErrorCode.UNKNOWN_SERVER_ERROR
        return [OffsetFetchResponseGroup(group_id=name, error_code=error) for name in by_name]
    return list(by_name.values())


def error_response(
    request: OffsetFetchRequest, error: ErrorCode, message: str | None
) -> OffsetFetchResponse:
    topics = [_failed_topic(asked, error) for asked in _group_of_old_request(request).topics or ()]
    return OffsetFetchResponse(
        error_code=error,
        topics=_topic_rows_before_groups(topics),
        groups=[
            OffsetFetchResponseGroup(group_id=group.group_id, error_code=error)
            for group in request.groups
        ],
    )


def _group_of_old_request(request: OffsetFetchRequest) -> _RequestGroup:
    topics = request.topics
    request_topics = None
    if topics is not None:
        request_topics = tuple(
            _RequestTopic(topic.name, NO_ID, tuple(topic.partition_indexes)) for topic in topics
        )
    return _RequestGroup(request.group_id, None, -1, request_topics)


def _groups_of_request(groups: Iterable[OffsetFetchRequestGroup]) -> list[_RequestGroup]:
    return [
        _RequestGroup(
            group.group_id,
            group.member_id,
            group.member_epoch,
            None
            if group.topics is None
            else tuple(
                _RequestTopic(topic.name, topic.topic_id, tuple(topic.partition_indexes))
                for topic in group.topics
            ),
        )
        for group in groups
    ]


def _fetch_group_offsets(
    group: _RequestGroup, require_stable: bool, context: RequestContext
) -> _GroupResponse:
    error = context.access.denial_error(OFFSET_FETCH_GROUP, group.group_id)
    if error is not NO_ERROR:
        effect = context.cluster.policy.bind_requirement_to_release_and_notify(
            OFFSET_FETCH_GROUP
        ).effect_in_version(context.version)
        each = effect is DenialEffect.EACH and context.version < MANY_SINCE
        return _GroupResponse(
            error, _failed_topics_merged_or_empty_by_release(group, error, context) if each else []
        )
    if (
        context.version == FROM_ZOOKEEPER
        and not context.facts.groups.zookeeper_offset_commit_is_supported
    ):
        return _GroupResponse(
            error,
            _failed_topics_merged_or_empty_by_release(
                group, ErrorCode.UNSUPPORTED_VERSION, context
            ),
        )
    error = context.group_coordinator_error(group.group_id)
    group_state = context.cluster.groups.find_and_touch_after_topic_deletions(group.group_id)
    if error is NO_ERROR and group_state is not None:
        error = group_state.fetch_error(group.member_id, group.member_epoch)
    if error is not NO_ERROR:
        each = context.version < TOP_CODE_SINCE
        return _GroupResponse(
            error, _failed_topics_merged_or_empty_by_release(group, error, context) if each else []
        )
    if group.topics is None:
        return _GroupResponse(
            error, _fetch_all_visible_topics(group.group_id, require_stable, context)
        )
    return _GroupResponse(error, _fetch_requested_topics(group, require_stable, context))


def _fetch_requested_topics(
    group: _RequestGroup, require_stable: bool, context: RequestContext
) -> list[_ResponseTopic]:
    """Return the requested topics, with the failed ones last."""
    assert group.topics is not None
    fetched_topics, failed_topics = [], []
    for request_topic in context.time_sliced(group.topics):
        name, error = request_topic.name, NO_ERROR
        if context.version >= BY_ID_SINCE:
            known = context.cluster.topics.by_id(request_topic.topic_id)
            name = "" if known is None else known.name
            error = ErrorCode.UNKNOWN_TOPIC_ID if known is None else error
        if error is NO_ERROR:
            error = context.access.denial_error(OFFSET_FETCH_TOPIC, name)
        if error is NO_ERROR:
            fetched_topics.append(
                _fetch_topic_offsets(group.group_id, request_topic, name, require_stable, context)
            )
        else:
            failed_topics.append(_failed_topic(request_topic, error))
    if context.facts.groups.denied_offset_fetch_lists_each_topic:
        return _merge_rows_of_old_releases(fetched_topics, context) + failed_topics
    return _merge_rows_of_old_releases(fetched_topics + failed_topics, context)


def _merge_rows_of_old_releases(
    topics: list[_ResponseTopic], context: RequestContext
) -> list[_ResponseTopic]:
    """Merge the rows of older releases: each partition once, and no topic without partitions."""
    if context.facts.groups.java_group_coordinator:
        return topics
    rows: dict[str, dict[int, CommittedOffset | ErrorCode]] = {}
    for topic in context.time_sliced(topics):
        rows.setdefault(topic.name, {}).update(zip(topic.partitions, topic.results, strict=True))
    return [
        _ResponseTopic(name, NO_ID, tuple(row), tuple(row.values()))
        for name, row in context.time_sliced(rows.items())
        if row
    ]


def _failed_topics_merged_or_empty_by_release(
    group: _RequestGroup, error: ErrorCode, context: RequestContext
) -> list[_ResponseTopic]:
    facts, from_zookeeper = context.facts.groups, context.version == FROM_ZOOKEEPER
    if facts.failed_offset_fetch_v1_is_empty and not from_zookeeper:
        return []
    topics = [
        _failed_topic(request_topic, error)
        for request_topic in context.time_sliced(group.topics or ())
    ]
    repeats = facts.denied_offset_fetch_lists_each_topic and not from_zookeeper
    return topics if repeats else _merge_rows_of_old_releases(topics, context)


def _fetch_topic_offsets(
    group_id: str,
    request_topic: _RequestTopic,
    name: str,
    require_stable: bool,
    context: RequestContext,
) -> _ResponseTopic:
    groups = context.cluster.groups
    topic = context.cluster.topics.get(name)
    if context.version == FROM_ZOOKEEPER:
        rows = [
            _offset_from_zookeeper(group_id, topic, at, context)
            for at in context.time_sliced(request_topic.partitions)
        ]
    else:
        ids = [] if topic is None else [topic.topic_id]
        if not context.facts.groups.commit_rejects_missing_partition:
            ids.append(stand_in_topic_id_of_missing_partition(name))
        rows = [
            _stored_or_unstable_offset(groups.offsets, group_id, ids, at, require_stable)
            for at in context.time_sliced(request_topic.partitions)
        ]
    return _ResponseTopic(
        request_topic.name, request_topic.topic_id, request_topic.partitions, tuple(rows)
    )


def _stored_or_unstable_offset(
    offsets: Offsets,
    group_id: str,
    topic_ids: Iterable[bytes],
    partition: int,
    require_stable: bool,
) -> CommittedOffset | ErrorCode:
    """Return the offset that is stored under one of these topic ids."""
    for topic_id in topic_ids:
        if require_stable and offsets.has_pending_offset(group_id, topic_id, partition):
            return ErrorCode.UNSTABLE_OFFSET_COMMIT
        stored = offsets.committed_offset(group_id, topic_id, partition)
        if stored is not None:
            return stored
    return NOTHING


def _offset_from_zookeeper(
    group_id: str, topic: Topic | None, partition: int, context: RequestContext
) -> CommittedOffset | ErrorCode:
    """Return the offset from ZooKeeper, which has no metadata."""
    checks = context.facts.groups.commit_rejects_missing_partition
    if topic is None or (checks and topic.partition_once_led(partition) is None):
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if not group_id:
        return ErrorCode.UNKNOWN_SERVER_ERROR  # an empty element of a path
    stored = context.cluster.groups.zookeeper_offsets.committed_offset(
        group_id, topic.topic_id, partition
    )
    return (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if stored is None else CommittedOffset(stored.offset)
    )


def _fetch_all_visible_topics(
    group_id: str, require_stable: bool, context: RequestContext
) -> list[_ResponseTopic]:
    offsets = context.cluster.groups.offsets
    topics = context.cluster.topics
    named_rows = [
        (name, topic_id, rows)
        for topic_id, rows in context.time_sliced(list(offsets.offsets_by_topic(group_id)))
        if (name := _topic_name_of_stored_id(topic_id, topics)) is not None
    ]
    visible = context.access.filter_visible(OFFSET_FETCH_ALL_TOPICS, named_rows, lambda row: row[0])

    def found(name: str, topic_id: bytes, partitions: tuple[int, ...]) -> _ResponseTopic:
        indexes = context.time_sliced(partitions)
        rows = (
            _stored_or_unstable_offset(offsets, group_id, (topic_id,), at, require_stable)
            for at in indexes
        )
        return _ResponseTopic(name, topic_id, partitions, tuple(rows))

    topics_found = [found(name, topic_id, tuple(rows)) for name, topic_id, rows in visible]
    return _merge_rows_of_old_releases(topics_found, context)


def _topic_name_of_stored_id(topic_id: bytes, topics: Topics) -> str | None:
    topic = topics.by_id(topic_id)
    return topic_name_of_missing_partition(topic_id) if topic is None else topic.name


def _failed_topic(request_topic: _RequestTopic, error: ErrorCode) -> _ResponseTopic:
    return _ResponseTopic(
        request_topic.name,
        request_topic.topic_id,
        request_topic.partitions,
        (error,) * len(request_topic.partitions),
    )


def _topic_rows_before_groups(topics: Iterable[_ResponseTopic]) -> list[OffsetFetchResponseTopic]:
    return [
        OffsetFetchResponseTopic(
            name=topic.name,
            partitions=[
                OffsetFetchResponsePartition(*_partition_fields_in_wire_order(at, result))
                for at, result in zip(topic.partitions, topic.results, strict=True)
            ],
        )
        for topic in topics
    ]


def _group_rows(
    responses: Iterable[tuple[_RequestGroup, _GroupResponse]],
) -> list[OffsetFetchResponseGroup]:
    return [
        OffsetFetchResponseGroup(
            group_id=group.group_id,
            error_code=response.error,
            topics=[
                OffsetFetchResponseTopics(
                    name=topic.name,
                    topic_id=topic.topic_id,
                    partitions=[
                        OffsetFetchResponsePartitions(*_partition_fields_in_wire_order(at, result))
                        for at, result in zip(topic.partitions, topic.results, strict=True)
                    ],
                )
                for topic in response.topics
            ],
        )
        for group, response in responses
    ]


def _partition_fields_in_wire_order(
    partition: int, result: CommittedOffset | ErrorCode
) -> tuple[int, int, int, str, ErrorCode]:
    """Return index, offset, leader epoch, metadata and error of a partition, in wire order."""
    if isinstance(result, ErrorCode):
        return partition, NO_OFFSET, NO_EPOCH, "", result
    return partition, result.offset, result.leader_epoch, result.metadata, NO_ERROR
