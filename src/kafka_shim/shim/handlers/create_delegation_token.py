"""38 CreateDelegationToken, versions 0-3. A token for the caller needs no ACL, one for another user
CREATE_TOKENS on that user (KIP-48, KIP-373).

Errors in the order of their checks: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED (64),
DELEGATION_TOKEN_AUTHORIZATION_FAILED (65), INVALID_PRINCIPAL_TYPE (67),
DELEGATION_TOKEN_AUTH_DISABLED (61).
"""

from kafka_shim.authorizer.requirements import CREATE_DELEGATION_TOKEN_OWNER
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.handlers.common.token_session import require_authentication_without_token
from kafka_shim.shim.request.context import RequestContext

USER = "User"


def handle(
    request: CreateDelegationTokenRequest, context: RequestContext
) -> CreateDelegationTokenResponse:
    requester = context.session.principal
    owner = requester
    if request.owner_principal_name:
        owner = f"{request.owner_principal_type or ''}:{request.owner_principal_name}"
    try:
        return _create_token(request, owner, context)
    except RequestRejected as refusal:
        return _token_response(owner, requester, refusal.error, context.version)


error_response = mirroring_error_builder(
    CreateDelegationTokenResponse,
    constant_fields={"issue_timestamp_ms": -1, "expiry_timestamp_ms": -1, "max_timestamp_ms": -1},
)


def _create_token(
    request: CreateDelegationTokenRequest, owner: str, context: RequestContext
) -> CreateDelegationTokenResponse:
    requester = context.session.principal
    require_authentication_without_token(context)
    if owner != requester:
        context.access.require(CREATE_DELEGATION_TOKEN_OWNER, owner)
    if any(renewer.principal_type != USER for renewer in request.renewers):
        raise RequestRejected(ErrorCode.INVALID_PRINCIPAL_TYPE)
    token = context.cluster.tokens.create_token(
        owner,
        requester,
        [f"{renewer.principal_type}:{renewer.principal_name}" for renewer in request.renewers],
        request.max_lifetime_ms,
    )
    response = _token_response(owner, requester, ErrorCode.NONE, context.version)
    response.issue_timestamp_ms = token.issued_ms
    response.expiry_timestamp_ms = token.expires_ms
    response.max_timestamp_ms = token.max_ms
    response.token_id = token.token_id
    response.hmac = token.hmac
    return response


def _token_response(
    owner: str, requester: str, error: ErrorCode, version: int
) -> CreateDelegationTokenResponse:
    """Return the response; a denial repeats the owner and, from version 3, the requester."""
    owner_type, _, owner_name = owner.partition(":")
    requester_type, _, requester_name = requester.partition(":") if version >= 3 else ("",) * 3
    return CreateDelegationTokenResponse(
        error_code=error,
        principal_type=owner_type,
        principal_name=owner_name,
        token_requester_principal_type=requester_type,
        token_requester_principal_name=requester_name,
        issue_timestamp_ms=-1,
        expiry_timestamp_ms=-1,
        max_timestamp_ms=-1,
    )
