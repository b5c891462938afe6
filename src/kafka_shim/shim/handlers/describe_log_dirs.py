"""35 DescribeLogDirs, versions 0-5. The partitions in this broker's only log directory (KIP-113).

Up to version 2 a denial is an empty response without an error. Sizes are those of the records in
memory.

DEVIATION: total and usable size of the disk are unknown (KIP-827), since there is none.
"""

from collections.abc import Iterable

from kafka_shim.authorizer.requirements import DESCRIBE_LOG_DIRS
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.topics import Partition, Topic

RequestedPartitions = dict[str, set[int]] | None
"""The requested partitions of each topic; None: all partitions of all topics."""


def handle(request: DescribeLogDirsRequest, context: RequestContext) -> DescribeLogDirsResponse:
    error = context.access.denial_error(DESCRIBE_LOG_DIRS)
    if error is not ErrorCode.NONE:
        return DescribeLogDirsResponse(error_code=error if context.version >= 3 else 0)
    requested = _requested_partitions(request)
    lists_all = context.facts.topics.describe_log_dirs_lists_unrequested_topics
    open_partitions = (
        (topic, _open_partitions_of_node(topic, context))
        for topic in _topics_to_list(requested, context)
    )
    rows = (
        _topic_row(topic, partitions, requested)
        for topic, partitions in open_partitions
        if partitions
    )
    return DescribeLogDirsResponse(
        results=[
            DescribeLogDirsResult(
                log_dir=context.cluster.configs.first_log_dir(context.node_id),
                topics=[topic for topic in rows if topic.partitions or lists_all],
            )
        ]
    )


error_response = mirroring_error_builder(DescribeLogDirsResponse)
"""Without a field for the code of a denial, `handle` deals with it."""


def _requested_partitions(request: DescribeLogDirsRequest) -> RequestedPartitions:
    if request.topics is None:
        return None
    requested: dict[str, set[int]] = {}
    for topic in request.topics:
        requested.setdefault(topic.topic, set()).update(topic.partitions)
    return requested


def _topics_to_list(requested: RequestedPartitions, context: RequestContext) -> Iterable[Topic]:
    """Return the existing requested topics; all topics in releases that list them, too."""
    topics = context.cluster.topics
    if requested is None or context.facts.topics.describe_log_dirs_lists_unrequested_topics:
        return topics
    return (topic for name in requested if (topic := topics.get(name)) is not None)


def _open_partitions_of_node(topic: Topic, context: RequestContext) -> list[Partition]:
    node_id = context.node_id
    return [
        partition
        for partition in topic.partitions
        if node_id in partition.replicas and partition.is_open
    ]


def _topic_row(
    topic: Topic, partitions: Iterable[Partition], requested: RequestedPartitions
) -> DescribeLogDirsTopic:
    return DescribeLogDirsTopic(
        name=topic.name,
        partitions=[
            DescribeLogDirsPartition(
                partition_index=partition.index,
                partition_size=partition.log.disk_bytes,
            )
            for partition in partitions
            if requested is None or partition.index in requested.get(topic.name, ())
        ],
    )
