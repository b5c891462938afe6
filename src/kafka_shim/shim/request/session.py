"""The session of a connection: its origin, its principal, and the requests that it may send."""

from collections.abc import Sequence
from enum import Enum
from typing import Any

from kafka_shim.authorizer.model import Actor
from kafka_shim.authorizer.networks import java_address
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader, is_kafka_request
from kafka_shim.shim.config import ListenerConfig
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.state.cluster import Cluster


class AuthenticationPhase(Enum):
    """The phases of a connection; only READY allows ordinary requests."""

    HANDSHAKE = "handshake"  # a SASL listener, no mechanism chosen yet
    MECHANISM = "mechanism"  # after ApiVersions: only a SaslHandshake may follow
    TOKENS = "tokens"  # SaslHandshake v0: raw SASL bytes follow, each in a frame
    AUTHENTICATE = "authenticate"  # SaslHandshake v1: SaslAuthenticate requests follow
    READY = "ready"
    MECHANISM_CHANGED = (
        "refused"  # re-authentication with another mechanism: the next request closes
    )
    FAILED = "failed"  # wrong credentials: the response goes out, then the connection is closed


class Session:
    """One client connection as handlers see it."""

    __slots__ = (
        "actor",
        "claimed_name",
        "client_software_name",
        "client_software_version",
        "expires_at_ms",
        "following_chunks",
        "host",
        "identity",
        "is_authenticated",
        "listener",
        "local_host",
        "mechanism",
        "node_id",
        "number",
        "observed_host",
        "phase",
        "port",
        "renewed_at_ms",
        "requests",
        "sasl",
        "sent_apis",
        "throttle_pause_ms",
        "token_id",
        "trace_row",
    )

    def __init__(
        self, listener: ListenerConfig, node_id: int, host: str, port: int, local_host: str = ""
    ) -> None:
        self.listener = listener
        self.node_id = node_id
        self.number = 0  # unique among the connections of a cluster
        self.requests = 0  # how many were recorded
        self.sent_apis = 0  # a bit for the key of each API
        self.trace_row: tuple[object, int] | None = None  # the recorder's block and the row there
        self.identity = b""  # stands for who asks, and where; empty: not known yet
        self.following_chunks: list[bytes | memoryview] | None = (
            None  # the rest of a response, if it is sent in chunks
        )
        self.throttle_pause_ms = 0  # for how long nothing more may be read
        self.host = host
        self.port = port
        self.local_host = local_host  # the local address that the client reached
        self.observed_host = (
            ""  # the client's address as a broker behind `kafka-shim proxy` sees it
        )
        self.actor = Actor(listener.principal, host)
        self.phase = (
            AuthenticationPhase.HANDSHAKE
            if listener.protocol.uses_sasl
            else AuthenticationPhase.READY
        )
        self.is_authenticated = False  # by SASL
        self.expires_at_ms: int | None = None  # when the authentication must have been renewed
        self.renewed_at_ms: int | None = None  # when the last re-authentication began
        self.token_id: str | None = None  # the delegation token that was the proof
        self.mechanism: str | None = None
        self.sasl: object | None = None  # the mechanism's state between two messages
        self.claimed_name: str | None = None  # the user that this authentication is for
        self.client_software_name = ""
        self.client_software_version = ""

    @property
    def is_ready(self) -> bool:
        """Return whether it has logged in, where that is wanted."""
        return self.phase is AuthenticationPhase.READY

    @property
    def principal(self) -> str:
        return self.actor.principal

    @principal.setter
    def principal(self, principal: str) -> None:
        self.actor = Actor(principal, self.host)
        self.identity = b""
        self.trace_row = None

    def set_client_software(self, software_name: str, software_version: str) -> None:
        """Set the client's software (KIP-511)."""
        self.client_software_name = software_name
        self.client_software_version = software_version
        self.trace_row = None

    def advertised_host(self, host: str) -> str:
        """Return the address to advertise to this client; for a listener on all interfaces, the one
        that the client has already reached.
        """
        return self.local_host if host in ("0.0.0.0", "::") and self.local_host else host  # noqa: S104 - compared, not bound


def address_of_peer(peername: Sequence[Any]) -> str:
    """Return the IP address of a socket's peer as Java writes it, since ACL hosts are compared as
    text. An address of a link has the number of the interface (`fe80:0:0:0:0:0:0:1%2`).
    """
    host = str(peername[0])
    if len(peername) == 4 and peername[3]:
        host = f"{host.partition('%')[0]}%{peername[3]}"
    return java_address(host) or host


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
