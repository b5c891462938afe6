"""7 ControlledShutdown, versions 0-3. A stopping broker asks the controller to move its leaders.

CLUSTER_ACTION on the cluster, or CLUSTER_AUTHORIZATION_FAILED (31). Other brokers than the
controller answer STALE_CONTROLLER_EPOCH (11). An unknown broker id gets BROKER_NOT_AVAILABLE (8),
or UNKNOWN_SERVER_ERROR (-1) if the request has a broker epoch (KIP-380).

DEVIATION: a real controller moves the leaders, also for a client. Brokers here never send this
request, so a known broker id gets STALE_BROKER_EPOCH (77), as if that broker was restarted since.
"""

from kafka_shim.authorizer.requirements import CONTROLLED_SHUTDOWN
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
)
from kafka_shim.shim.handlers.always_rejected.stale_epoch import NO_EPOCH
from kafka_shim.shim.handlers.common.controller import is_controller_or_forwards_to_it
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext


def handle(
    request: ControlledShutdownRequest, context: RequestContext
) -> ControlledShutdownResponse:
    context.access.require(CONTROLLED_SHUTDOWN)
    return ControlledShutdownResponse(
        error_code=_error_of_every_controlled_shutdown(request, context)
    )


error_response = mirroring_error_builder(ControlledShutdownResponse)


def _error_of_every_controlled_shutdown(
    request: ControlledShutdownRequest, context: RequestContext
) -> ErrorCode:
    if not is_controller_or_forwards_to_it(context):
        return ErrorCode.STALE_CONTROLLER_EPOCH
    if request.broker_id in context.cluster.nodes:
        return ErrorCode.STALE_BROKER_EPOCH
    if request.broker_epoch == NO_EPOCH:
        return ErrorCode.BROKER_NOT_AVAILABLE
    return ErrorCode.UNKNOWN_SERVER_ERROR
