"""72 PushTelemetry, version 0. Receives a client's metrics (KIP-714). Needs no permission.

Errors in the order of their checks: INVALID_REQUEST (42) if the client had announced its end,
THROTTLING_QUOTA_EXCEEDED (89), UNKNOWN_SUBSCRIPTION_ID (117), UNSUPPORTED_COMPRESSION_TYPE (76),
TELEMETRY_TOO_LARGE (118), and INVALID_RECORD (87) if decompression fails.
"""

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.push_telemetry import PushTelemetryRequest, PushTelemetryResponse
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.handlers.common.telemetry_client import telemetry_client_of_session
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.telemetry import NO_ID, ReceivedPush


def handle(request: PushTelemetryRequest, context: RequestContext) -> PushTelemetryResponse:
    instance_id = request.client_instance_id
    if instance_id == NO_ID:
        raise RequestRejected(ErrorCode.INVALID_REQUEST, "the request has no client instance id")
    pushed = ReceivedPush(
        client=telemetry_client_of_session(instance_id, context),
        is_terminating=request.terminating,
        compression=request.compression_type,
        metrics=request.metrics,
    )
    telemetry = context.cluster.telemetry[context.node_id]
    telemetry.accept_push(instance_id, request.subscription_id, pushed)
    return PushTelemetryResponse()


error_response = mirroring_error_builder(PushTelemetryResponse)
