"""12 Heartbeat, versions 0-4. Extends a session; REBALANCE_IN_PROGRESS (27) asks to rejoin."""

from kafka_shim.authorizer.requirements import HEARTBEAT
from kafka_shim.protocol.error_codes import NO_ERROR
from kafka_shim.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext


def handle(request: HeartbeatRequest, context: RequestContext) -> HeartbeatResponse:
    context.access.require(HEARTBEAT, request.group_id)
    error = context.group_coordinator_error(request.group_id)
    if error is NO_ERROR:
        error = context.cluster.member_requests.handle_classic_heartbeat(
            request.group_id, request.member_id, request.group_instance_id, request.generation_id
        )
    return HeartbeatResponse(error_code=error)


error_response = mirroring_error_builder(HeartbeatResponse)
