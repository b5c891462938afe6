"""21 DeleteRecords, versions 0-2. Moves log start offsets; -1 is the high watermark (KIP-107).

DELETE on the topic. Internal topics get INVALID_TOPIC_EXCEPTION (17); a topic whose only cleanup
policy is compact is rejected.
"""

from collections.abc import Iterator

from msgspec import structs

from kafka_shim.authorizer.requirements import DELETE_RECORDS_TOPIC
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
    DeleteRecordsTopicResult,
)
from kafka_shim.shim.handlers.common.duplicates import deduplicate_by_topic
from kafka_shim.shim.handlers.common.topic_access import TopicErrors
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.topics import Partition

HIGH_WATERMARK = -1
NO_OFFSET = -1


def handle(request: DeleteRecordsRequest, context: RequestContext) -> DeleteRecordsResponse:
    context.access.declare_no_further_checks()  # a request may name no topic
    names = [topic.name for topic in request.topics]
    errors = TopicErrors(context, DELETE_RECORDS_TOPIC, names)
    for name in dict.fromkeys(names):  # also of topics without partitions
        errors.error(name)
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                topic.name, list(_delete_records_of_topic(topic, errors, context))
            )
            for topic in _deduplicate_partitions(request).topics
        ]
    )


def error_response(
    request: DeleteRecordsRequest, error: ErrorCode, message: str | None
) -> DeleteRecordsResponse:
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                topic.name,
                [_failed_partition(row.partition_index, error) for row in topic.partitions],
            )
            for topic in _deduplicate_partitions(request).topics
        ]
    )


def _deduplicate_partitions(request: DeleteRecordsRequest) -> DeleteRecordsRequest:
    """Return the request with each partition once, and the last of its offsets."""
    rows = (
        (topic.name, partition.partition_index, partition)
        for topic in request.topics
        for partition in topic.partitions
    )
    topics = [DeleteRecordsTopic(*topic) for topic in deduplicate_by_topic(rows)]
    return structs.replace(request, topics=topics)


def _delete_records_of_topic(
    topic: DeleteRecordsTopic, errors: TopicErrors, context: RequestContext
) -> Iterator[DeleteRecordsPartitionResult]:
    error = errors.error(topic.name)
    for partition in topic.partitions:
        yield _delete_records_of_partition(topic.name, partition, error, context)


def _delete_records_of_partition(
    name: str, request_partition: DeleteRecordsPartition, error: ErrorCode, context: RequestContext
) -> DeleteRecordsPartitionResult:
    partition = context.cluster.topics.led_partition(name, request_partition.partition_index)
    if error is ErrorCode.NONE:
        error = _delete_records_error(name, partition, request_partition.offset, context)
    if error is not ErrorCode.NONE or partition is None:
        return _failed_partition(request_partition.partition_index, error)
    log = partition.log
    offset = (
        log.high_watermark
        if request_partition.offset == HIGH_WATERMARK
        else request_partition.offset
    )
    if offset > log.start_offset:
        log.delete_records_before(offset)
        if context.facts.records.delete_records_forgets_producers:
            log.producers.drop_batches_below(offset)
    return DeleteRecordsPartitionResult(
        partition_index=request_partition.partition_index, low_watermark=log.start_offset
    )


def _delete_records_error(
    name: str, partition: Partition | None, offset: int, context: RequestContext
) -> ErrorCode:
    """Return the error for a partition; NONE if records can be deleted."""
    if partition is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if name in context.cluster.topics.internal_names:
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    if not partition.is_led_with_open_log_by(context.node_id):
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    if not partition.log.settings.deletes:
        return ErrorCode.POLICY_VIOLATION
    if offset != HIGH_WATERMARK and not 0 <= offset <= partition.log.high_watermark:
        return ErrorCode.OFFSET_OUT_OF_RANGE
    return ErrorCode.NONE


def _failed_partition(index: int, error: ErrorCode) -> DeleteRecordsPartitionResult:
    return DeleteRecordsPartitionResult(
        partition_index=index, low_watermark=NO_OFFSET, error_code=error
    )
