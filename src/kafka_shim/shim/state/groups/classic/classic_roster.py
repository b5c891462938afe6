"""The members of a classic group: dynamic and static ones, pending ids and the leader."""

import random
from collections import Counter

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.shim.clock import Timer
from kafka_shim.shim.state.groups.classic.classic_member import (
    ClassicMember,
    JoinedMember,
    JoinRequest,
    OnJoined,
    Protocols,
)


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
