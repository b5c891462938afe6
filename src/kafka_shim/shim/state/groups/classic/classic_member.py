"""A member of a classic group, with its requests and responses."""

from collections.abc import Callable

import msgspec

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.shim.clock import Deadline

Protocols = tuple[tuple[str, bytes], ...]
"""Names of a member's assignment protocols, in order of preference, each with its metadata."""


class JoinRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A JoinGroup request."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str  # as DescribeGroups shows it: "/127.0.0.1"
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    protocols: Protocols
    requires_known_member_id: bool = False  # a new dynamic member must join twice (KIP-394)
    supports_skip_assignment: bool = False  # a leader that rejoined need not assign (KIP-814)


class JoinedMember(msgspec.Struct, frozen=True):
    """A member in the leader's JoinGroup response."""

    member_id: str
    instance_id: str | None
    metadata: bytes


class JoinResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The response to a JoinGroup request; only the leader's has `members`."""

    error: ErrorCode = NO_ERROR
    member_id: str = ""
    generation_id: int = -1
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader_id: str = ""
    skip_assignment: bool = False
    members: tuple[JoinedMember, ...] = ()


class SyncRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A SyncGroup request; the leader's has `assignments`, by member id."""

    member_id: str
    instance_id: str | None
    generation_id: int
    protocol_type: str | None
    protocol_name: str | None
    assignments: dict[str, bytes]


class SyncResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The response to a SyncGroup request."""

    error: ErrorCode = NO_ERROR
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


class DescribedMember(msgspec.Struct, frozen=True):
    """A member in a DescribeGroups response."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    metadata: bytes
    assignment: bytes


OnJoined = Callable[[JoinResponse], None]
OnSynced = Callable[[SyncResponse], None]


class ClassicMember:
    """One member: its protocols, its assignment and its pending responses."""

    __slots__ = (
        "assignment",
        "client_host",
        "client_id",
        "instance_id",
        "is_new",
        "member_id",
        "on_join",
        "on_sync",
        "protocols",
        "rebalance_timeout_ms",
        "session_ends_ms",
        "session_timeout_ms",
        "session_timer",
    )

    def __init__(self, member_id: str, joining: JoinRequest) -> None:
        self.member_id = member_id
        self.instance_id = joining.instance_id
        self.client_id = joining.client_id
        self.client_host = joining.client_host
        self.session_timeout_ms = joining.session_timeout_ms
        self.rebalance_timeout_ms = joining.rebalance_timeout_ms
        self.protocols = joining.protocols
        self.assignment = b""
        self.is_new = True  # has never completed a rebalance
        self.on_join: OnJoined | None = None
        self.on_sync: OnSynced | None = None
        self.session_timer: Deadline | None = None
        self.session_ends_ms: float = float("inf")

    def update_protocols_from_join(self, joining: JoinRequest, *, with_timeouts: bool) -> None:
        """Set the protocols and timeouts of a JoinGroup from a member that rejoins."""
        if with_timeouts:
            self.session_timeout_ms = joining.session_timeout_ms
            self.rebalance_timeout_ms = joining.rebalance_timeout_ms
        self.protocols = joining.protocols

    def metadata_of_protocol(self, protocol_name: str | None) -> bytes:
        wanted = protocol_name or ""
        return next((metadata for name, metadata in self.protocols if name == wanted), b"")

    def first_protocol_all_support(self, all_support: Callable[[str], bool]) -> str:
        """Return the first of its protocols that all members support, else its first one."""
        supported = (name for name, _ in self.protocols if all_support(name))
        return next(supported, self.protocols[0][0])

    def stop_session_timer(self) -> None:
        if self.session_timer is not None:
            self.session_timer.cancel()
            self.session_timer = None
