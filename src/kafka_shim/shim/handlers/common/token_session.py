"""Which connections may use the delegation token APIs, and the expiry of a token (KIP-48)."""

from collections.abc import Callable
from typing import TypeVar

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.config import SecurityProtocol
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.request.context import RequestContext

Response = TypeVar("Response")


def require_authentication_without_token(context: RequestContext) -> None:
    """Raise RequestRejected if the session is not authenticated, or with a delegation token."""
    session = context.session
    protocol = session.listener.protocol
    is_anonymous = protocol is SecurityProtocol.SSL and session.principal == "User:ANONYMOUS"
    if protocol is SecurityProtocol.PLAINTEXT or is_anonymous or session.token_id is not None:
        raise RequestRejected(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)


def response_with_expiry(
    response_type: Callable[[int, int], Response],
    context: RequestContext,
    change_expiry: Callable[[], int],
) -> Response:
    """Return the response to a renewal or an expiration: the error, and the token's new expiry."""
    try:
        require_authentication_without_token(context)
        return response_type(ErrorCode.NONE, change_expiry())
    except RequestRejected as refusal:
        is_not_allowed = refusal.error is ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
        expiry_ms = -1 if is_not_allowed else context.facts.users.failed_token_request_expiry
        return response_type(refusal.error, expiry_ms)
