"""56 AlterPartition, version 0. A leader reports its in-sync replicas to the controller (KIP-497).

CLUSTER_ACTION on the cluster, or CLUSTER_AUTHORIZATION_FAILED (31); NOT_CONTROLLER (41) on other
brokers. It needs a broker epoch, which no client has, so the result is STALE_BROKER_EPOCH (77).
"""

from kafka_shim.authorizer.requirements import ALTER_PARTITION
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
)
from kafka_shim.shim.handlers.common.controller import require_controller_or_forwarding
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext


def handle(request: AlterPartitionRequest, context: RequestContext) -> AlterPartitionResponse:
    context.access.require(ALTER_PARTITION)
    require_controller_or_forwarding(context)
    return AlterPartitionResponse(error_code=ErrorCode.STALE_BROKER_EPOCH)


error_response = mirroring_error_builder(AlterPartitionResponse, constant_fields={"topics": []})
