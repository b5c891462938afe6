"""36 SaslAuthenticate, versions 0-2. One message of the chosen mechanism (KIP-152).

A failed authentication gets SASL_AUTHENTICATION_FAILED (58) and a message, then the connection
is closed. Since version 1 the response has the session lifetime in ms (KIP-368); 0: unlimited.
"""

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from kafka_shim.shim.handlers.common import sasl_authentication
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.request.session import AuthenticationPhase
from kafka_shim.shim.sasl.mechanism import SaslFailure


def handle(request: SaslAuthenticateRequest, context: RequestContext) -> SaslAuthenticateResponse:
    session = context.session
    if session.phase is not AuthenticationPhase.AUTHENTICATE:
        text = "no authentication is in progress on this connection; send SaslHandshake first"
        return error_response(request, ErrorCode.ILLEGAL_SASL_STATE, text)
    try:
        step = sasl_authentication.process_sasl_message(
            request.auth_bytes, session, context.cluster
        )
    except SaslFailure as failure:
        session.phase = AuthenticationPhase.FAILED
        return error_response(request, ErrorCode.SASL_AUTHENTICATION_FAILED, str(failure))
    lifetime_ms = 0
    if step.principal is not None and session.expires_at_ms is not None:
        lifetime_ms = max(0, session.expires_at_ms - context.cluster.clock.now_ms())
    return SaslAuthenticateResponse(auth_bytes=step.message, session_lifetime_ms=lifetime_ms)


error_response = mirroring_error_builder(SaslAuthenticateResponse)
