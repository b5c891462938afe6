"""40 ExpireDelegationToken, versions 0-2. Needs no ACL: allowed for owner and renewers (KIP-48)."""

from kafka_shim.protocol.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.handlers.common.token_session import response_with_expiry
from kafka_shim.shim.request.context import RequestContext


def handle(
    request: ExpireDelegationTokenRequest, context: RequestContext
) -> ExpireDelegationTokenResponse:
    return response_with_expiry(
        ExpireDelegationTokenResponse,
        context,
        lambda: context.cluster.tokens.set_token_expiry(
            request.hmac, context.session.principal, request.expiry_time_period_ms
        ),
    )


error_response = mirroring_error_builder(ExpireDelegationTokenResponse)
