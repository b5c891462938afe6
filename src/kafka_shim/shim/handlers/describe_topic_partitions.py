"""75 DescribeTopicPartitions, version 0. Topics in the order of their names, in pages (KIP-966).

An invalid cursor gives INVALID_REQUEST (42) on every topic, before permissions are checked.
Authorized operations are always returned, also for a missing topic. Denied topics come last, or are
left out if all topics are requested.
"""

from collections.abc import Sequence
from typing import NamedTuple

from kafka_shim.authorizer.requirements import (
    DESCRIBE_TOPIC_PARTITIONS_ALL_TOPICS,
    DESCRIBE_TOPIC_PARTITIONS_TOPIC,
)
from kafka_shim.protocol.enums import ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
    RequestCursor,
    ResponseCursor as NextCursor,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.topics import Partition, name_error


def handle(
    request: DescribeTopicPartitionsRequest, context: RequestContext
) -> DescribeTopicPartitionsResponse:
    cursor = request.cursor
    if request.topics:
        requested_names = {topic.name for topic in request.topics}
        _check_cursor(cursor, requested_names)
        names = _sorted_names_from_cursor(requested_names, cursor)
        allowed, denied = context.access.split_allowed(
            DESCRIBE_TOPIC_PARTITIONS_TOPIC, names, lambda name: name
        )
        if cursor is None and "" in allowed:
            raise RequestRejected(ErrorCode.UNKNOWN_SERVER_ERROR, "a topic name is empty")
    else:
        _check_cursor(cursor, None)
        existing_names = {topic.name for topic in context.cluster.topics}
        names = _sorted_names_from_cursor(existing_names, cursor)
        denied = []
        allowed = context.access.filter_visible(
            DESCRIBE_TOPIC_PARTITIONS_ALL_TOPICS, names, lambda name: name
        )
    limit = min(
        request.response_partition_limit,
        context.cluster.configs.effective_broker_int("max.request.partition.size.limit"),
    )
    topics, next_cursor = _page_of_topics(allowed, cursor, max(limit, 1), context)
    if next_cursor is not None and not context.facts.topics.every_page_lists_all_denials:
        start = next_cursor.topic_name
        denied = [name for name in denied if name < start]
    return DescribeTopicPartitionsResponse(
        topics=[
            *topics,
            *(
                DescribeTopicPartitionsResponseTopic(
                    error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED, name=name
                )
                for name in denied
            ),
        ],
        next_cursor=next_cursor,
    )


error_response = mirroring_error_builder(DescribeTopicPartitionsResponse)


class _Page(NamedTuple):
    """Topics of a page, and the cursor of the next one; None: this is the last."""

    topics: list[DescribeTopicPartitionsResponseTopic]
    next_cursor: NextCursor | None


def _check_cursor(cursor: RequestCursor | None, requested_names: set[str] | None) -> None:
    if cursor is None:
        return
    if cursor.partition_index < 0:
        raise RequestRejected(ErrorCode.INVALID_REQUEST, "the cursor's partition is below 0")
    if requested_names is not None and cursor.topic_name not in requested_names:
        raise RequestRejected(ErrorCode.INVALID_REQUEST, "the cursor's topic is not in the request")


def _sorted_names_from_cursor(names: set[str], cursor: RequestCursor | None) -> list[str]:
    start = "" if cursor is None else cursor.topic_name
    return sorted(name for name in names if name >= start)


def _page_of_topics(
    names: Sequence[str], cursor: RequestCursor | None, partitions_max: int, context: RequestContext
) -> _Page:
    """Return at most `partitions_max` partitions, beginning at the cursor."""
    page = []
    for place, name in enumerate(names):
        topic = context.cluster.topics.get(name)
        if topic is None:
            page.append(_missing_topic_row(name, context))
            continue
        start = cursor.partition_index if cursor and name == cursor.topic_name else 0
        partitions = topic.partitions[start : start + partitions_max]
        page.append(
            DescribeTopicPartitionsResponseTopic(
                name=name,
                topic_id=topic.topic_id,
                is_internal=topic.is_internal,
                partitions=[_partition_row(partition, context) for partition in partitions],
                topic_authorized_operations=_authorized_operations(name, context),
            )
        )
        partitions_max -= len(partitions)
        end = start + len(partitions)
        if end < len(topic.partitions):
            return _Page(page, NextCursor(topic_name=name, partition_index=end))
        if partitions_max <= 0 and place + 1 < len(names):
            return _Page(page, NextCursor(topic_name=names[place + 1]))
    return _Page(page, None)


def _missing_topic_row(name: str, context: RequestContext) -> DescribeTopicPartitionsResponseTopic:
    error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if name_error(name) is not None:
        error = ErrorCode.INVALID_TOPIC_EXCEPTION
    return DescribeTopicPartitionsResponseTopic(
        error_code=error,
        name=name,
        is_internal=name in context.cluster.topics.internal_names,
        topic_authorized_operations=_authorized_operations(name, context),
    )


def _authorized_operations(name: str, context: RequestContext) -> int:
    return context.access.authorized_operations(ResourceType.TOPIC, name)


def _partition_row(
    partition: Partition, context: RequestContext
) -> DescribeTopicPartitionsResponsePartition:
    nodes = context.cluster.nodes
    dead_replicas = [
        replica
        for replica in partition.replicas
        if replica in nodes and not nodes[replica].is_alive
    ]
    leader_id = -1 if partition.leader_id in dead_replicas else partition.leader_id
    return DescribeTopicPartitionsResponsePartition(
        error_code=ErrorCode.NONE if leader_id >= 0 else ErrorCode.LEADER_NOT_AVAILABLE,
        partition_index=partition.index,
        leader_id=leader_id,
        leader_epoch=partition.leader_epoch,
        replica_nodes=partition.replicas,
        isr_nodes=partition.isr,
        eligible_leader_replicas=partition.eligible,
        last_known_elr=partition.last_known,
        offline_replicas=dead_replicas,
    )
