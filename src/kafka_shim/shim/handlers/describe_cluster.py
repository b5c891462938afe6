"""60 DescribeCluster, versions 0-2. Brokers and ids need no permission (KIP-700).

Since version 2, brokers that are stopped are included on request, as fenced (KIP-1073).

Only the authorized operations of the cluster do: without DESCRIBE they are 0, and if not requested
they are Int32.MIN (KIP-430).
"""

from kafka_shim.authorizer.requirements import DESCRIBE_CLUSTER_OPERATIONS
from kafka_shim.protocol.enums import NO_OPERATIONS, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext

CACHED_SINCE = 0
BROKERS = 1
CONTROLLERS = 2


def handle(request: DescribeClusterRequest, context: RequestContext) -> DescribeClusterResponse:
    _check_endpoint_type(request.endpoint_type, context)
    operations = NO_OPERATIONS
    if request.include_cluster_authorized_operations:
        operations = 0
        if context.access.allows(DESCRIBE_CLUSTER_OPERATIONS):
            operations = context.access.authorized_operations(ResourceType.CLUSTER)
    return DescribeClusterResponse(
        cluster_id=context.cluster.cluster_id,
        controller_id=context.cluster.controller_id,
        brokers=[
            DescribeClusterBroker(
                broker_id=node_id, host=host, port=port, rack=rack, is_fenced=is_fenced
            )
            for node_id, host, port, rack, is_fenced in context.registered_brokers()
            if request.include_fenced_brokers or not is_fenced
        ],
        cluster_authorized_operations=operations,
    )


error_response = mirroring_error_builder(DescribeClusterResponse)


def _check_endpoint_type(endpoint_type: int, context: RequestContext) -> None:
    """Check the endpoint type: brokers describe brokers only (KIP-919); version 0 has no such
    field.
    """
    context.access.declare_no_further_checks()
    if endpoint_type == CONTROLLERS:
        raise RequestRejected(
            ErrorCode.MISMATCHED_ENDPOINT_TYPE, "this is a broker, not a controller"
        )
    if endpoint_type != BROKERS:
        raise RequestRejected(
            ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, f"endpoint type {endpoint_type} is unknown"
        )
