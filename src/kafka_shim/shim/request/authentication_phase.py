"""The requests that are allowed before authentication, and after it has expired."""

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader, is_kafka_request
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.request.session import AuthenticationPhase, Session
from kafka_shim.shim.state.cluster import Cluster

_READY = AuthenticationPhase.READY  # module constant: enum attribute lookup is slow on CPython 3.11
_AUTHENTICATE = AuthenticationPhase.AUTHENTICATE
ALLOWED_APIS_BY_PHASE = {
    AuthenticationPhase.HANDSHAKE: frozenset({ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE}),
    AuthenticationPhase.MECHANISM: frozenset({ApiKey.SASL_HANDSHAKE}),
    AuthenticationPhase.TOKENS: frozenset[ApiKey](),
    AuthenticationPhase.AUTHENTICATE: frozenset({ApiKey.SASL_AUTHENTICATE}),
    AuthenticationPhase.MECHANISM_CHANGED: frozenset[ApiKey](),
    AuthenticationPhase.FAILED: frozenset[ApiKey](),
}


def check_phase(
    header: RequestHeader, session: Session, cluster: Cluster, frame_bytes: int
) -> None:
    """Raise CloseConnection for a request that is not allowed before authentication, or after the
    session has expired (KIP-368).

    Bytes that are not a request may be a raw token with a password: only their length is reported.
    """
    if session.phase is not _READY:
        if header.api_key in ALLOWED_APIS_BY_PHASE[session.phase]:
            return
        if session.phase is _AUTHENTICATE and is_kafka_request(header):
            return  # it gets its response: ILLEGAL_SASL_STATE
        if not is_kafka_request(header):
            raise CloseConnection(f"a frame of {frame_bytes} bytes that is not a request")
        if session.phase is AuthenticationPhase.MECHANISM_CHANGED:
            raise CloseConnection("re-authentication with another mechanism")
        name, protocol = ApiKey(header.api_key).wire_name, session.listener.protocol.value
        raise CloseConnection(
            f"client sent {name} ({frame_bytes} bytes) before it had authenticated;"
            f" set security.protocol={protocol} and its credentials in the client"
        )
    expires_at_ms = session.expires_at_ms
    if expires_at_ms is None or header.api_key == ApiKey.SASL_HANDSHAKE:
        return
    if cluster.clock.now_ms() > expires_at_ms:
        raise CloseConnection("the session has expired, and the client did not re-authenticate")
