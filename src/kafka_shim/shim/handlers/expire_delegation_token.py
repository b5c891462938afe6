"""40 ExpireDelegationToken, versions 0-2. Needs no ACL: allowed for owner and renewers (KIP-48)."""

from kafka_shim.protocol.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.handlers.common.token_session import (
    expiry_ms_of_failed_request,
    require_authentication_without_token,
)
from kafka_shim.shim.request.context import RequestContext


def handle(
    request: ExpireDelegationTokenRequest, context: RequestContext
) -> ExpireDelegationTokenResponse:
    try:
        return _expire_token(request, context)
    except RequestRejected as refusal:
        expiry_ms = expiry_ms_of_failed_request(refusal.error, context)
        return ExpireDelegationTokenResponse(
            error_code=refusal.error, expiry_timestamp_ms=expiry_ms
        )


error_response = mirroring_error_builder(ExpireDelegationTokenResponse)


def _expire_token(
    request: ExpireDelegationTokenRequest, context: RequestContext
) -> ExpireDelegationTokenResponse:
    require_authentication_without_token(context)
    expiry_ms = context.cluster.tokens.set_token_expiry(
        request.hmac, context.session.principal, request.expiry_time_period_ms
    )
    return ExpireDelegationTokenResponse(expiry_timestamp_ms=expiry_ms)
