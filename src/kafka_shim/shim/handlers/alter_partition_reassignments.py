"""45 AlterPartitionReassignments, versions 0-1. Moves replicas (KIP-455, KIP-860).

No records are copied here: a reassignment is complete when it gets its response. Cancelling one
(replicas null) therefore finds none in progress.
"""

from collections.abc import Sequence

from msgspec import structs

from kafka_shim.authorizer.requirements import ALTER_PARTITION_REASSIGNMENTS
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopic,
    ReassignableTopicResponse,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.controller import require_controller
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.handlers.common.topic_plan import TopicError
from kafka_shim.shim.request.context import RequestContext


def handle(
    request: AlterPartitionReassignmentsRequest, context: RequestContext
) -> AlterPartitionReassignmentsResponse:
    error = context.access.denial_error(ALTER_PARTITION_REASSIGNMENTS)
    if error is not ErrorCode.NONE:
        raise RequestRejected(error, "cluster authorization failed")
    require_controller(context)
    if not request.topics:
        return AlterPartitionReassignmentsResponse(error_message="")
    if not context.facts.topics.reassignment_lists_repeated_partitions:
        request = _merge_duplicate_partitions(request)
    return AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change,
        error_message=context.facts.topics.reassignment_ok_message,
        responses=[
            ReassignableTopicResponse(
                name=topic.name,
                partitions=[
                    _reassign_partition(topic.name, partition, request, context)
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )


error_response = mirroring_error_builder(
    AlterPartitionReassignmentsResponse, request_field_names={"responses": "topics"}
)


def _merge_duplicate_partitions(
    request: AlterPartitionReassignmentsRequest,
) -> AlterPartitionReassignmentsRequest:
    """Merge requests for a partition; a controller on ZooKeeper uses the last one, and leaves out
    topics without partitions.
    """
    partitions_by_topic: dict[str, dict[int, ReassignablePartition]] = {}
    for topic in request.topics:
        by_index = partitions_by_topic.setdefault(topic.name, {})
        by_index.update({partition.partition_index: partition for partition in topic.partitions})
    topics = [
        ReassignableTopic(name=name, partitions=list(by_index.values()))
        for name, by_index in partitions_by_topic.items()
        if by_index
    ]
    return structs.replace(request, topics=topics)


def _reassign_partition(
    topic_name: str,
    request_partition: ReassignablePartition,
    request: AlterPartitionReassignmentsRequest,
    context: RequestContext,
) -> ReassignablePartitionResponse:
    try:
        _reassign(topic_name, request_partition, request, context)
    except TopicError as failure:
        return _partition_response(
            request_partition.partition_index, failure.error, failure.message
        )
    return _partition_response(request_partition.partition_index, ErrorCode.NONE, None)


def _reassign(
    topic_name: str,
    request_partition: ReassignablePartition,
    request: AlterPartitionReassignmentsRequest,
    context: RequestContext,
) -> None:
    checks_topic_first = context.facts.topics.reassignment_checks_topic_first
    if request_partition.replicas is None and not checks_topic_first:
        text = "no reassignment is in progress"
        raise TopicError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, text)
    if request_partition.replicas is not None and not checks_topic_first:
        _check_new_replicas(request_partition.replicas, context)
    partition = context.cluster.topics.controller_partition(
        topic_name, request_partition.partition_index
    )
    if partition is None:
        raise TopicError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "unknown partition")
    if request_partition.replicas is None:
        raise TopicError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, None)
    replicas = request_partition.replicas
    _check_new_replicas(replicas, context)
    is_same_factor = len(replicas) == len(partition.replicas)
    if not request.allow_replication_factor_change and not is_same_factor:
        message = f"the replication factor would change to {len(replicas)}"
        raise TopicError(ErrorCode.INVALID_REPLICATION_FACTOR, message)
    epoch = partition.leader_epoch
    context.cluster.topics.replace_replicas(partition, replicas)
    context.cluster.replace_stopped_leaders()
    if context.facts.topics.reassignment_raises_leader_epoch and partition.leader_epoch == epoch:
        context.cluster.topics.elect_leader(partition, partition.leader_id)


def _check_new_replicas(replicas: Sequence[int], context: RequestContext) -> None:
    known = context.cluster.nodes
    if not replicas or len(set(replicas)) < len(replicas) or not set(replicas) <= known.keys():
        message = "replicas must be distinct ids of brokers"
        raise TopicError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)


def _partition_response(
    index: int, error: ErrorCode, message: str | None
) -> ReassignablePartitionResponse:
    return ReassignablePartitionResponse(
        partition_index=index, error_code=error, error_message=message
    )
