"""17 SaslHandshake, versions 0-1. Chooses the mechanism; later it gets ILLEGAL_SASL_STATE (34).

A mechanism that is not enabled gets UNSUPPORTED_SASL_MECHANISM (33) with the enabled ones; since
1.0 the connection is then closed. DEVIATION: GSSAPI (Kerberos) cannot be enabled.

After version 0 the client sends raw tokens, after version 1 SaslAuthenticate requests (KIP-152). On
a connection whose session has a lifetime it begins a re-authentication (KIP-368).
"""

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.sasl_handshake_request import SaslHandshakeRequest
from kafka_shim.protocol.messages.sasl_handshake_response import SaslHandshakeResponse
from kafka_shim.shim.handlers.shared import login
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.request.session import Phase

_BEFORE = frozenset({Phase.HANDSHAKE, Phase.MECHANISM})


def handle(request: SaslHandshakeRequest, context: RequestContext) -> SaslHandshakeResponse:
    session = context.session
    mechanisms = list(context.cluster.mechanisms)
    renews = session.phase is Phase.READY and session.expires_at_ms is not None
    if session.phase not in _BEFORE and not renews:
        told = mechanisms if context.facts.users.late_handshake_tells_mechanisms else []
        return SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE, mechanisms=told)
    if renews and request.mechanism != session.mechanism:
        return SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE, mechanisms=mechanisms)
    phase = Phase.TOKENS if context.version == 0 else Phase.AUTHENTICATE
    if not login.begin(request.mechanism, session, context.cluster, phase):
        if context.facts.users.unknown_mechanism_closes:
            session.phase = Phase.FAILED
        return SaslHandshakeResponse(
            error_code=ErrorCode.UNSUPPORTED_SASL_MECHANISM, mechanisms=mechanisms
        )
    return SaslHandshakeResponse(mechanisms=mechanisms)


def refuse(
    request: SaslHandshakeRequest, error: ErrorCode, message: str | None
) -> SaslHandshakeResponse:
    return SaslHandshakeResponse(error_code=error)
