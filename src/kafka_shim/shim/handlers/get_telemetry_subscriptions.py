"""71 GetTelemetrySubscriptions, version 0. Returns the metrics that a client must push, and the
interval (KIP-714). Needs no permission.

A client without an instance id gets one. A request before the interval is over gets
THROTTLING_QUOTA_EXCEEDED (89), unless the client's last push was rejected for its subscription id
or compression.
"""

from kafka_shim.protocol.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from kafka_shim.protocol.records.compression import Compression
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.handlers.common.telemetry_client import telemetry_client_of_session
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.telemetry import NO_ID

ACCEPTED = (Compression.ZSTD, Compression.LZ4, Compression.GZIP, Compression.SNAPPY)
"""Accepted compressions, in order of preference."""


def handle(
    request: GetTelemetrySubscriptionsRequest, context: RequestContext
) -> GetTelemetrySubscriptionsResponse:
    telemetry = context.cluster.telemetry[context.node_id]
    instance_id = request.client_instance_id
    if instance_id == NO_ID:
        instance_id = telemetry.new_instance_id()
    subscription = telemetry.get_subscription(
        instance_id, telemetry_client_of_session(instance_id, context)
    )
    return GetTelemetrySubscriptionsResponse(
        client_instance_id=instance_id,
        subscription_id=subscription.subscription_id,
        accepted_compression_types=[int(compression) for compression in ACCEPTED],
        push_interval_ms=subscription.interval_ms,
        telemetry_max_bytes=telemetry.push_bytes_max,
        delta_temporality=True,
        requested_metrics=list(subscription.metrics),
    )


error_response = mirroring_error_builder(GetTelemetrySubscriptionsResponse)
