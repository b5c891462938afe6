"""The members of a classic group, with their requests and responses: dynamic and static ones."""

import random
from collections import Counter
from collections.abc import Callable

import msgspec

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.shim.clock import Deadline, Timer

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


class ClassicMembers:
    """Members by id in joining order; `pending_member_ids` have not joined yet."""

    def __init__(self) -> None:
        self.members: dict[str, ClassicMember] = {}
        self.instances: dict[str, str] = {}
        self.pending_member_ids: dict[str, Timer] = {}
        self.leader_id = ""
        self.protocol_type = ""
        self.revision = 0
        """A number that grows with each change of members."""
        self._joining: set[ClassicMember] = set()
        self._members_by_protocol: Counter[str] = Counter()  # members by protocol

    def __len__(self) -> int:
        return len(self.members)

    def add_member(self, member: ClassicMember, protocol_type: str) -> None:
        """Add a member; the first one sets the protocol type and becomes the leader."""
        self.revision += 1
        if not self.members:
            self.protocol_type = protocol_type
        self.members[member.member_id] = member
        self._members_by_protocol.update(_protocol_names(member))
        if member.instance_id is not None:
            self.instances[member.instance_id] = member.member_id
        if not self.leader_id:
            self.leader_id = member.member_id
        self.drop_pending_member_id(member.member_id)

    def remove_member(self, member: ClassicMember) -> None:
        """Remove a member; if it was the leader, the next one becomes the leader."""
        self.revision += 1
        member.stop_session_timer()
        del self.members[member.member_id]
        self._joining.discard(member)
        self._remove_protocol_votes(member)
        if member.instance_id is not None:
            self.instances.pop(member.instance_id, None)
        if self.leader_id == member.member_id:
            self.leader_id = next(iter(self.members), "")

    def update_member_protocols_from_join(
        self, member: ClassicMember, joining: JoinRequest, *, with_timeouts: bool
    ) -> None:
        """Update a member's protocols from its JoinGroup request, and its timeouts."""
        self.revision += 1
        self._remove_protocol_votes(member)
        member.update_protocols_from_join(joining, with_timeouts=with_timeouts)
        self._members_by_protocol.update(_protocol_names(member))

    def _remove_protocol_votes(self, member: ClassicMember) -> None:
        """Uncount a member's protocols, and drop those without members: a client can name many."""
        for name in _protocol_names(member):
            self._members_by_protocol[name] -= 1
            if not self._members_by_protocol[name]:
                del self._members_by_protocol[name]

    def replace_static_member_id(self, old: ClassicMember, new_id: str) -> None:
        """Give a static member that rejoined its new id; it keeps everything else."""
        assert old.instance_id is not None
        self.revision += 1
        members = {
            new_id if member_id == old.member_id else member_id: member
            for member_id, member in self.members.items()
        }
        if self.leader_id == old.member_id:
            self.leader_id = new_id
        self.members = members
        self.instances[old.instance_id] = new_id
        old.member_id = new_id

    def drop_pending_member_id(self, member_id: str) -> bool:
        """Drop a pending member id (KIP-394); return whether it was pending."""
        timer = self.pending_member_ids.pop(member_id, None)
        if timer is not None:
            timer.cancel()
        return timer is not None

    def member_identity_error(
        self, member_id: str, instance_id: str | None, *, unknown_instance_is_error: bool
    ) -> ErrorCode:
        """Return NONE for a current member, else UNKNOWN_MEMBER_ID or FENCED_INSTANCE_ID.

        FENCED_INSTANCE_ID means that the instance now has another member id. With
        `unknown_instance_is_error`, an unknown instance gives UNKNOWN_MEMBER_ID even if the member
        id exists.
        """
        if instance_id is not None:
            current = self.instances.get(instance_id)
            if current is None and unknown_instance_is_error:
                return ErrorCode.UNKNOWN_MEMBER_ID
            if current is not None and current != member_id:
                return ErrorCode.FENCED_INSTANCE_ID
        return NO_ERROR if member_id in self.members else ErrorCode.UNKNOWN_MEMBER_ID

    def all_members_support(self, protocol_name: str) -> bool:
        """Return whether every member supports the protocol, and names it only once: Kafka counts
        names, not members.
        """
        return self._members_by_protocol[protocol_name] == len(self.members)

    def has_member_protocols(self) -> bool:
        """Return whether members have protocols, and so at least one in common."""
        return bool(self._members_by_protocol)

    def accepts_protocols(
        self, protocol_type: str, protocols: Protocols, *, empty_group_requires_protocol: bool
    ) -> bool:
        """Return whether a client with these protocols can join; an empty group accepts any
        unless `empty_group_requires_protocol`: then a protocol and a protocol type are needed.
        """
        if not self.members:
            return not empty_group_requires_protocol or (bool(protocols) and bool(protocol_type))
        return protocol_type == self.protocol_type and any(
            self.all_members_support(name) for name, _ in protocols
        )

    def selected_protocol(self) -> str:
        """Return the protocol with most votes; of equals, the one voted for first.

        DEVIATION: without a protocol that all name once, each member's first one gets its vote. A
        real broker does not answer then.
        """
        votes: dict[str, int] = {}
        for member in self.members.values():
            name = member.first_protocol_all_support(self.all_members_support)
            votes[name] = votes.get(name, 0) + 1
        return max(votes, key=lambda name: votes[name])

    def rebalance_timeout_ms(self) -> int:
        """Return the longest rebalance timeout of all members; 0 without members."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def set_pending_join(self, member: ClassicMember, response: OnJoined) -> None:
        """Store the callback for a member's pending JoinGroup response."""
        member.on_join = response
        self._joining.add(member)

    def pop_pending_join(self, member: ClassicMember) -> OnJoined | None:
        """Remove and return the callback of a pending JoinGroup; None if none is pending."""
        self._joining.discard(member)
        response, member.on_join = member.on_join, None
        return response

    @property
    def joining_count(self) -> int:
        """Number of members with a pending JoinGroup."""
        return len(self._joining)

    def is_complete(self) -> bool:
        """Return whether all members have rejoined and no handed-out member id is pending."""
        return self.joining_count == len(self.members) and not self.pending_member_ids

    def elect_joined_leader(self) -> bool:
        """Replace a leader that has not rejoined by a member that has; return False if none has."""
        if not self._joining:
            return False
        leader = self.members.get(self.leader_id)
        if leader is None or leader.on_join is None:
            joined = (member for member in self.members.values() if member.on_join is not None)
            self.leader_id = next(joined).member_id
        return True

    def members_for_leader(self, protocol_name: str | None) -> tuple[JoinedMember, ...]:
        """Return all members with the metadata that the leader needs to assign partitions."""
        return tuple(
            JoinedMember(
                member.member_id, member.instance_id, member.metadata_of_protocol(protocol_name)
            )
            for member in self.members.values()
        )


def new_uuid(rng: random.Random) -> str:
    """Return a random version 4 UUID in Java's text format."""
    raw = bytearray(rng.randbytes(16))
    raw[6] = raw[6] & 0x0F | 0x40
    raw[8] = raw[8] & 0x3F | 0x80
    text = raw.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def _protocol_names(member: ClassicMember) -> list[str]:
    return [name for name, _ in member.protocols]
