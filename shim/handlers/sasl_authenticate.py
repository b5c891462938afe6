"""36 SaslAuthenticate, versions 0-2. One message of the chosen mechanism (KIP-152).

A failed login is answered with 58 and a text, then the connection is closed.
"""

from protocol.error_codes import ErrorCode
from protocol.messages.sasl_authenticate_request import SaslAuthenticateRequest
from protocol.messages.sasl_authenticate_response import SaslAuthenticateResponse
from shim.context import RequestContext
from shim.sasl import tokens
from shim.sasl.mechanism import SaslFailure
from shim.session import Phase


def handle(request: SaslAuthenticateRequest, context: RequestContext) -> SaslAuthenticateResponse:
    if context.session.phase is not Phase.AUTHENTICATE:
        return refuse(request, ErrorCode.ILLEGAL_SASL_STATE, None)
    try:
        step = tokens.advance(request.auth_bytes, context.session, context.cluster)
    except SaslFailure as failure:
        context.session.phase = Phase.FAILED
        return refuse(request, ErrorCode.SASL_AUTHENTICATION_FAILED, str(failure))
    return SaslAuthenticateResponse(auth_bytes=step.reply)


def refuse(
    request: SaslAuthenticateRequest,
    error: ErrorCode,
    message: str | None,
) -> SaslAuthenticateResponse:
    return SaslAuthenticateResponse(error_code=error, error_message=message)
