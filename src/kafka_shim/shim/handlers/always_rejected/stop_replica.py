"""5 StopReplica, versions 0-3. The controller makes a broker stop replicas.

CLUSTER_ACTION on the cluster, or the response and every partition get CLUSTER_AUTHORIZATION_FAILED
(31). Every other request gets a stale epoch, and then no partition is listed.
"""

from collections.abc import Iterable

from kafka_shim.authorizer.requirements import STOP_REPLICA
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.stop_replica import (
    StopReplicaPartitionError,
    StopReplicaRequest,
    StopReplicaResponse,
)
from kafka_shim.shim.handlers.always_rejected.stale_epoch import (
    TopicPartition,
    denial_or_always_stale_epoch_error,
    partitions_deduplicated_by_release,
)
from kafka_shim.shim.request.context import RequestContext


def handle(request: StopReplicaRequest, context: RequestContext) -> StopReplicaResponse:
    error = denial_or_always_stale_epoch_error(STOP_REPLICA, request.broker_epoch, context)
    if error is not ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
        return StopReplicaResponse(error_code=error)
    partitions = partitions_deduplicated_by_release(
        context.offload(_partitions_of_request, request), context
    )
    return context.offload(_response_with_error, error, partitions)


def error_response(
    request: StopReplicaRequest, error: ErrorCode, message: str | None
) -> StopReplicaResponse:
    return _response_with_error(error, _partitions_of_request(request))


def _partitions_of_request(request: StopReplicaRequest) -> list[TopicPartition]:
    """Return the partitions from the request's layout: that of versions 3, 1 and 2, or 0."""
    return [
        *(
            (t.topic_name, p.partition_index)
            for t in request.topic_states
            for p in t.partition_states
        ),
        *((t.name, index) for t in request.topics for index in t.partition_indexes),
        *((p.topic_name, p.partition_index) for p in request.ungrouped_partitions),
    ]


def _response_with_error(
    error: ErrorCode, partitions: Iterable[TopicPartition]
) -> StopReplicaResponse:
    return StopReplicaResponse(
        error_code=error,
        partition_errors=[
            StopReplicaPartitionError(name, index, error) for name, index in partitions
        ],
    )
