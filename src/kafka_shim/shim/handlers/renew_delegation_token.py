"""39 RenewDelegationToken, versions 0-2. Needs no ACL: allowed for owner and renewers (KIP-48)."""

from kafka_shim.protocol.messages.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.handlers.common.token_session import response_with_expiry
from kafka_shim.shim.request.context import RequestContext


def handle(
    request: RenewDelegationTokenRequest, context: RequestContext
) -> RenewDelegationTokenResponse:
    return response_with_expiry(
        RenewDelegationTokenResponse,
        context,
        lambda: context.cluster.tokens.renew_token(
            request.hmac, context.session.principal, request.renew_period_ms
        ),
    )


error_response = mirroring_error_builder(RenewDelegationTokenResponse)
