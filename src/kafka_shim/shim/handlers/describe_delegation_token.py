"""41 DescribeDelegationToken, versions 0-3. The caller's own tokens are always returned.

Tokens of others need DESCRIBE on the token or DESCRIBE_TOKENS on its owner (KIP-48, KIP-373), and
are left out otherwise.
"""

from kafka_shim.authorizer.requirements import DESCRIBE_DELEGATION_TOKEN
from kafka_shim.protocol.messages.describe_delegation_token import (
    DescribedDelegationToken,
    DescribedDelegationTokenRenewer,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.handlers.common.token_session import require_authentication_without_token
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.delegation_tokens import DelegationToken


def handle(
    request: DescribeDelegationTokenRequest, context: RequestContext
) -> DescribeDelegationTokenResponse:
    require_authentication_without_token(context)
    context.cluster.tokens.require_enabled()
    owners = None
    if request.owners is not None:
        owners = [f"{owner.principal_type}:{owner.principal_name}" for owner in request.owners]
    return DescribeDelegationTokenResponse(
        tokens=[
            _describe_token(token, context.version)
            for token in context.cluster.tokens
            if (owners is None or any(token.is_visible_to(owner) for owner in owners))
            and _is_token_visible(token, context)
        ]
    )


error_response = mirroring_error_builder(DescribeDelegationTokenResponse)


def _is_token_visible(token: DelegationToken, context: RequestContext) -> bool:
    if token.is_visible_to(context.session.principal):
        return True
    return context.access.allows_either(DESCRIBE_DELEGATION_TOKEN, (token.token_id, token.owner))


def _describe_token(token: DelegationToken, version: int) -> DescribedDelegationToken:
    owner_type, _, owner_name = token.owner.partition(":")
    requester_type, _, requester_name = (
        token.requester.partition(":") if version >= 3 else ("",) * 3
    )
    return DescribedDelegationToken(
        principal_type=owner_type,
        principal_name=owner_name,
        token_requester_principal_type=requester_type,
        token_requester_principal_name=requester_name,
        issue_timestamp=token.issued_ms,
        expiry_timestamp=token.expires_ms,
        max_timestamp=token.max_ms,
        token_id=token.token_id,
        hmac=token.hmac,
        renewers=[
            DescribedDelegationTokenRenewer(
                principal_type=renewer.partition(":")[0], principal_name=renewer.partition(":")[2]
            )
            for renewer in token.renewers
        ],
    )
