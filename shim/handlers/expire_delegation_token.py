"""40 ExpireDelegationToken, versions 0-2. No ACL: the owner and the renewers may (KIP-48)."""

from protocol.error_codes import ErrorCode
from protocol.messages.expire_delegation_token_request import ExpireDelegationTokenRequest
from protocol.messages.expire_delegation_token_response import ExpireDelegationTokenResponse
from shim.context import RequestContext
from shim.token_session import require_token_session


def handle(
    request: ExpireDelegationTokenRequest, context: RequestContext
) -> ExpireDelegationTokenResponse:
    require_token_session(context)
    expiry_ms = context.cluster.tokens.expire(
        request.hmac, context.session.principal, request.expiry_time_period_ms
    )
    return ExpireDelegationTokenResponse(expiry_timestamp_ms=expiry_ms)


def refuse(
    request: ExpireDelegationTokenRequest, error: ErrorCode, message: str | None
) -> ExpireDelegationTokenResponse:
    return ExpireDelegationTokenResponse(error_code=error)
