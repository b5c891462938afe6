"""17 SaslHandshake, versions 0-1. Chooses the mechanism; outside the SASL phase it is 34.

After version 0 the client sends raw tokens, after version 1 SaslAuthenticate requests (KIP-152).
"""

from protocol.error_codes import ErrorCode
from protocol.messages.sasl_handshake_request import SaslHandshakeRequest
from protocol.messages.sasl_handshake_response import SaslHandshakeResponse
from shim.context import RequestContext
from shim.sasl import tokens
from shim.session import Phase


def handle(request: SaslHandshakeRequest, context: RequestContext) -> SaslHandshakeResponse:
    if context.session.phase is not Phase.HANDSHAKE:
        return refuse(request, ErrorCode.ILLEGAL_SASL_STATE, None)
    mechanisms = list(context.cluster.config.mechanisms)
    phase = Phase.TOKENS if context.version == 0 else Phase.AUTHENTICATE
    if not tokens.begin(request.mechanism, context.session, context.cluster, phase):
        return SaslHandshakeResponse(
            error_code=ErrorCode.UNSUPPORTED_SASL_MECHANISM, mechanisms=mechanisms
        )
    return SaslHandshakeResponse(mechanisms=mechanisms)


def refuse(
    request: SaslHandshakeRequest,
    error: ErrorCode,
    message: str | None,
) -> SaslHandshakeResponse:
    return SaslHandshakeResponse(error_code=error)
