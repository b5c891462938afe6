"""39 RenewDelegationToken, versions 0-2. Needs no ACL: allowed for owner and renewers (KIP-48)."""

from kafka_shim.protocol.messages.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.handlers.common.token_session import (
    expiry_ms_of_failed_request,
    require_authentication_without_token,
)
from kafka_shim.shim.request.context import RequestContext


def handle(
    request: RenewDelegationTokenRequest, context: RequestContext
) -> RenewDelegationTokenResponse:
    try:
        return _renew_token(request, context)
    except RequestRejected as refusal:
        expiry_ms = expiry_ms_of_failed_request(refusal.error, context)
        return RenewDelegationTokenResponse(error_code=refusal.error, expiry_timestamp_ms=expiry_ms)


error_response = mirroring_error_builder(RenewDelegationTokenResponse)


def _renew_token(
    request: RenewDelegationTokenRequest, context: RequestContext
) -> RenewDelegationTokenResponse:
    require_authentication_without_token(context)
    expiry_ms = context.cluster.tokens.renew_token(
        request.hmac, context.session.principal, request.renew_period_ms
    )
    return RenewDelegationTokenResponse(expiry_timestamp_ms=expiry_ms)
