"""34 AlterReplicaLogDirs, versions 0-2. Move replicas to other log directories (KIP-113).

They are there immediately. An unknown directory gets LOG_DIR_NOT_FOUND (57). A replica that does
not exist yet goes to its directory, although the response has an error. A topic whose name is too
long for the folder of a moving partition gets INVALID_TOPIC_EXCEPTION (17). A denial is returned on
every partition.
"""

from kafka_shim.authorizer.requirements import ALTER_REPLICA_LOG_DIRS
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from kafka_shim.shim.request.context import RequestContext

FILE_NAME_MAX = 255
FUTURE_SUFFIX_LENGTH = len(".") + 32 + len("-future")
"""A moving partition's folder is `topic-partition.UUID-future` (KAFKA-4893)."""


def handle(
    request: AlterReplicaLogDirsRequest, context: RequestContext
) -> AlterReplicaLogDirsResponse:
    denial = context.access.denial_error(ALTER_REPLICA_LOG_DIRS)
    if denial is not ErrorCode.NONE:
        if context.facts.topics.denied_alter_log_dirs_lists_each_partition:
            return error_response(request, denial, None)
        return _response_of_errors(_same_error_for_all_partitions(request, denial))
    directories = context.cluster.configs.log_directories(context.node_id)
    results: dict[str, dict[int, int]] = {}
    for request_dir in request.dirs:
        for topic in request_dir.topics:
            for index in topic.partitions:
                by_index = results.setdefault(topic.name, {})
                if _is_future_name_too_long(topic.name, index):
                    by_index[index] = ErrorCode.INVALID_TOPIC_EXCEPTION
                elif request_dir.path in directories:
                    if len(directories) > 1:
                        context.cluster.replica_directories.move(
                            context.node_id, (topic.name, index), request_dir.path, directories
                        )
                    by_index[index] = _missing_replica_error(topic.name, index, context)
                else:
                    by_index[index] = ErrorCode.LOG_DIR_NOT_FOUND
    return _response_of_errors(results)


def error_response(
    request: AlterReplicaLogDirsRequest,
    error: ErrorCode,
    message: str | None,
) -> AlterReplicaLogDirsResponse:
    return AlterReplicaLogDirsResponse(
        results=[
            AlterReplicaLogDirTopicResult(
                topic_name=topic.name,
                partitions=[
                    AlterReplicaLogDirPartitionResult(partition_index=index, error_code=error)
                    for index in topic.partitions
                ],
            )
            for request_dir in request.dirs
            for topic in request_dir.topics
        ]
    )


def _same_error_for_all_partitions(
    request: AlterReplicaLogDirsRequest, error: int
) -> dict[str, dict[int, int]]:
    errors_by_topic: dict[str, dict[int, int]] = {}
    for log_dir in request.dirs:
        for topic in log_dir.topics:
            for index in topic.partitions:
                errors_by_topic.setdefault(topic.name, {})[index] = error
    return errors_by_topic


def _is_future_name_too_long(topic_name: str, index: int) -> bool:
    """Return whether the folder of a moving partition would have too long a name."""
    return len(f"{topic_name}-{index}") + FUTURE_SUFFIX_LENGTH > FILE_NAME_MAX


def _missing_replica_error(topic_name: str, index: int, context: RequestContext) -> int:
    partition = context.cluster.topics.led_partition(topic_name, index)
    if partition is None or context.node_id not in partition.replicas:
        return context.facts.topics.alter_log_dir_missing_replica_error
    return ErrorCode.NONE


def _response_of_errors(errors_by_topic: dict[str, dict[int, int]]) -> AlterReplicaLogDirsResponse:
    return AlterReplicaLogDirsResponse(
        results=[
            AlterReplicaLogDirTopicResult(
                topic_name=name,
                partitions=[
                    AlterReplicaLogDirPartitionResult(partition_index=index, error_code=error)
                    for index, error in by_index.items()
                ],
            )
            for name, by_index in errors_by_topic.items()
        ]
    )
