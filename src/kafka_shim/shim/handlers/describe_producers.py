"""61 DescribeProducers, version 0. Active producers of partitions and their transactions (KIP-664).

An invalid name gets INVALID_TOPIC_EXCEPTION (17) first (since 3.0); then READ on the topic is
checked, then whether it exists. Any broker with a replica answers, not only the leader.
"""

from kafka_shim.authorizer.requirements import DESCRIBE_PRODUCERS_TOPIC
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicRequest,
    TopicResponse,
)
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.topics import Partition, name_error


def handle(request: DescribeProducersRequest, context: RequestContext) -> DescribeProducersResponse:
    context.access.declare_no_further_checks()  # a request may name no topic
    return DescribeProducersResponse(
        topics=[_describe_topic_producers(topic, context) for topic in request.topics]
    )


error_response = mirroring_error_builder(
    DescribeProducersResponse, request_field_names={"partitions": "partition_indexes"}
)


def _describe_topic_producers(topic: TopicRequest, context: RequestContext) -> TopicResponse:
    message = (
        name_error(topic.name)
        if context.facts.records.describe_producers_checks_name_first
        else None
    )
    if message is not None:
        error = ErrorCode.INVALID_TOPIC_EXCEPTION
    else:
        error = context.access.denial_error(DESCRIBE_PRODUCERS_TOPIC, topic.name)
        if error is not ErrorCode.NONE:
            message = context.facts.records.describe_producers_denial_message
    rows = []
    for index in topic.partition_indexes:
        if error is not ErrorCode.NONE:
            rows.append(_failed_partition(index, error, message))
        else:
            rows.append(_describe_partition_producers(topic.name, index, context))
    return TopicResponse(name=topic.name, partitions=rows)


def _describe_partition_producers(
    name: str, index: int, context: RequestContext
) -> PartitionResponse:
    partition = context.cluster.topics.led_partition(name, index)
    if partition is None:
        has_message = context.facts.records.describe_producers_denial_message is not None
        has_message = has_message and name not in context.cluster.topics
        message = "unknown topic" if has_message else None
        return _failed_partition(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
    if not (partition.is_open and context.node_id in partition.replicas):
        message = "this broker has no replica of the partition" if partition.is_open else None
        return _failed_partition(index, ErrorCode.NOT_LEADER_OR_FOLLOWER, message)
    return PartitionResponse(partition_index=index, active_producers=_producer_states(partition))


def _producer_states(partition: Partition) -> list[ProducerState]:
    return [
        ProducerState(
            producer_id=producer.producer_id,
            producer_epoch=producer.epoch,
            last_sequence=producer.last_sequence,
            last_timestamp=producer.last_timestamp,
            coordinator_epoch=producer.coordinator_epoch,
            current_txn_start_offset=producer.transaction_offset,
        )
        for producer in partition.log.producers
    ]


def _failed_partition(index: int, error: ErrorCode, message: str | None) -> PartitionResponse:
    return PartitionResponse(partition_index=index, error_code=error, error_message=message)
