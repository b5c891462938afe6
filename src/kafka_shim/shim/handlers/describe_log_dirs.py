"""35 DescribeLogDirs, versions 0-5. The replicas in each log directory of this broker (KIP-113).

Up to version 2 a denial is an empty response without an error. Sizes are those of the records in
memory.

DEVIATION: total and usable size of the disk are unknown (KIP-827), since there is none.
"""

from collections.abc import Iterable, Mapping, Sequence

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
from kafka_shim.shim.state.replica_directories import replicas_of_node
from kafka_shim.shim.state.topics import Partition, Topic

RequestedPartitions = dict[str, set[int]] | None
"""The requested partitions of each topic; None: all partitions of all topics."""


def handle(request: DescribeLogDirsRequest, context: RequestContext) -> DescribeLogDirsResponse:
    error = context.access.denial_error(DESCRIBE_LOG_DIRS)
    if error is not ErrorCode.NONE:
        return DescribeLogDirsResponse(error_code=error if context.version >= 3 else 0)
    requested = _requested_partitions(request)
    lists_all = context.facts.topics.describe_log_dirs_lists_unrequested_topics
    directories = context.cluster.configs.log_directories(context.node_id)
    placed: Mapping[Partition, str] = {}
    if len(directories) > 1:
        placed = context.cluster.replica_directories.place(context.node_id, directories)
    replicas = [
        (topic, replicas_of_node(topic, context.node_id))
        for topic in _topics_to_list(requested, context)
    ]
    results = []
    for directory in directories:
        rows = [
            _topic_row(topic, here, requested)
            for topic, partitions in replicas
            if (here := _replicas_in(directory, partitions, placed))
        ]
        topics = [row for row in rows if row.partitions or lists_all]
        results.append(DescribeLogDirsResult(log_dir=directory, topics=topics))
    return DescribeLogDirsResponse(results=results)


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


def _replicas_in(
    directory: str, replicas: Sequence[Partition], placed: Mapping[Partition, str]
) -> Sequence[Partition]:
    """Return the replicas in a directory; all if none was placed, as there is only one."""
    if not placed:
        return replicas
    return [replica for replica in replicas if placed[replica] == directory]


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
