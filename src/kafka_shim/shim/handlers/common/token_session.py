"""Which connections may use the delegation token APIs (KIP-48)."""

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.config import SecurityProtocol
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.request.context import RequestContext


def require_authentication_without_token(context: RequestContext) -> None:
    """Raise RequestRejected if the session is not authenticated, or with a delegation token."""
    session = context.session
    protocol = session.listener.protocol
    is_anonymous = protocol is SecurityProtocol.SSL and session.principal == "User:ANONYMOUS"
    if protocol is SecurityProtocol.PLAINTEXT or is_anonymous or session.token_id is not None:
        raise RequestRejected(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)


def expiry_ms_of_failed_request(error: ErrorCode, context: RequestContext) -> int:
    """Return the expiry in the response of a failed renewal or expiration."""
    if error is ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED:
        return -1
    return context.facts.users.failed_token_request_expiry
