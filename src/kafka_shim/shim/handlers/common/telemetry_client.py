"""The properties of a client that select its metrics subscriptions (KIP-714)."""

from kafka_shim.protocol.wire_json import uuid_text
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.telemetry import TelemetryClient

UNKNOWN = "unknown"
"""The software of a client that has not named it (KIP-511)."""


def telemetry_client_of_session(instance_id: bytes, context: RequestContext) -> TelemetryClient:
    session = context.session
    return TelemetryClient(
        principal=session.principal,
        client_instance_id=uuid_text(instance_id),
        client_id=context.header.client_id or "",
        client_software_name=session.client_software_name or UNKNOWN,
        client_software_version=session.client_software_version or UNKNOWN,
        client_source_address=session.host,
        client_source_port=str(session.port),
    )
