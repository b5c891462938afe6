"""A classic group: its handling of JoinGroup, SyncGroup, Heartbeat and LeaveGroup.

A group created by a mere offset commit is one too. State changes are in `classic_rebalance.py`,
members in `classic_roster.py`, and checks of commits in `classic_commits.py`.
"""

import random
from collections.abc import Collection, Sequence
from typing import Final

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.releases.groups import GroupFacts
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.state.groups.classic import subscription
from kafka_shim.shim.state.groups.classic.classic_member import (
    ClassicMember,
    Joined,
    Joining,
    MemberView,
    OnJoined,
    OnSynced,
    Synced,
    Syncing,
)
from kafka_shim.shim.state.groups.classic.classic_rebalance import ClassicRebalance, ClassicState
from kafka_shim.shim.state.groups.classic.classic_roster import Roster, new_uuid
from kafka_shim.shim.state.groups.group import CommitIdentity, Group, GroupType
from kafka_shim.shim.state.settings.group_settings import GroupSettings

CONSUMER_PROTOCOL_TYPE: Final = "consumer"
"""The protocol type of consumers; `connect` is another."""


class ClassicGroup(Group):
    """One group of the classic protocol."""

    type = GroupType.CLASSIC

    def __init__(
        self,
        group_id: str,
        settings: GroupSettings,
        facts: GroupFacts,
        clock: Clock,
        rng: random.Random,
    ) -> None:
        super().__init__(group_id)
        self._settings = settings
        self._facts = facts
        self._random = rng
        self.cycle = ClassicRebalance(settings, facts, clock)

    @property
    def roster(self) -> Roster:
        return self.cycle.roster

    @property
    def state(self) -> ClassicState:
        return self.cycle.state

    @property
    def state_name(self) -> str:
        if self.state is ClassicState.COMPLETING:
            return self._facts.awaiting_sync_state_name
        name: str = self.state.value
        return name

    @property
    def protocol_type(self) -> str:
        return self.roster.protocol_type

    @property
    def is_empty(self) -> bool:
        return self.state is ClassicState.EMPTY

    @property
    def member_count(self) -> int:
        return len(self.roster.members)

    @property
    def protocol_in_use(self) -> str:
        """Name of the selected protocol if the group is stable, else empty."""
        return (self.cycle.protocol_name or "") if self.state is ClassicState.STABLE else ""

    def views(self) -> list[MemberView]:
        """Return the members for DescribeGroups; with metadata only while the group is stable."""
        return [
            MemberView(
                member.member_id,
                member.instance_id,
                member.client_id,
                member.client_host,
                *self._shown(member),
            )
            for member in self.roster.members.values()
        ]

    def _shown(self, member: ClassicMember) -> tuple[bytes, bytes]:
        """Return the metadata and assignment that the release shows in this state."""
        if self.state is not ClassicState.STABLE:
            return b"", member.assignment if self._facts.java_group_coordinator else b""
        if not self._facts.describe_groups_returns_member_metadata:
            return member.assignment, member.assignment
        return member.metadata(self.cycle.protocol_name), member.assignment

    def expire_overdue(self) -> None:
        self.cycle.expire_overdue()

    # JoinGroup

    def join(self, joining: Joining, response: OnJoined) -> None:
        """Join the next generation; `response` is called when it begins, or now with an error."""
        error = self._join_error(joining)
        if error is not NO_ERROR:
            response(Joined(error=error, member_id=joining.member_id))
        elif not joining.member_id:
            self._join_newly(joining, response)
        elif joining.member_id in self.roster.promised:
            self._enter(joining.member_id, joining, response)
        else:
            self._join_again(self.roster.members[joining.member_id], joining, response)
        self.cycle.flush_responses()

    def _join_error(self, joining: Joining) -> ErrorCode:
        if not self._has_room_for(joining.member_id):
            return ErrorCode.GROUP_MAX_SIZE_REACHED
        is_checked = self._facts.join_requires_protocol_type
        if not self.roster.supports(
            joining.protocol_type, joining.protocols, is_checked=is_checked
        ):
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        if self.cycle.is_stuck and joining.protocol_type != self.protocol_type:
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        if not joining.member_id or joining.member_id in self.roster.promised:
            return NO_ERROR
        return self.error_of(joining.member_id, joining.instance_id)

    def _has_room_for(self, member_id: str) -> bool:
        size_max = self._settings.size_max
        member = self.roster.members.get(member_id)
        if self.state is ClassicState.PREPARING:
            waits = member is not None and member.on_join is not None
            return waits or self.roster.joining_count < size_max
        return self.is_empty or member is not None or len(self.roster) < size_max

    def _join_newly(self, joining: Joining, response: OnJoined) -> None:
        instance_id = joining.instance_id
        member_id = f"{instance_id or joining.client_id}-{new_uuid(self._random)}"
        replaced = None if instance_id is None else self.roster.instances.get(instance_id)
        if replaced is not None:
            self._replace_static(self.roster.members[replaced], member_id, joining, response)
        elif joining.needs_member_id and instance_id is None:
            self.cycle.promise(member_id, joining.session_timeout_ms)
            response(Joined(error=ErrorCode.MEMBER_ID_REQUIRED, member_id=member_id))
        else:
            self._enter(member_id, joining, response)

    def _enter(self, member_id: str, joining: Joining, response: OnJoined) -> None:
        member = ClassicMember(member_id, joining)
        self.roster.hold(member, response)
        self.cycle.enter(member, joining.protocol_type)

    def _join_again(self, member: ClassicMember, joining: Joining, response: OnJoined) -> None:
        """Handle a member's new JoinGroup: rebalance if it is the leader or has changed."""
        changed = member.protocols != joining.protocols
        leads = member.member_id == self.roster.leader_id
        self.roster.update(
            member, joining, with_timeouts=self._facts.rejoin_updates_member_timeouts
        )
        if not changed and (
            self.state is ClassicState.COMPLETING
            or (self.state is ClassicState.STABLE and not leads)
        ):
            self.cycle.watch(member)
            response(self.cycle.joined(member))
            return
        self.roster.hold(member, response)
        self.cycle.begin()

    def _replace_static(
        self, member: ClassicMember, new_id: str, joining: Joining, response: OnJoined
    ) -> None:
        """Handle the JoinGroup of a static member that rejoined, if possible without a rebalance.

        A leader that rejoined must not assign again (KIP-345). The response says so (KIP-814), or
        in versions without that field, names the previous member id as the leader.
        """
        old_leader_id = self.roster.leader_id
        fenced = ErrorCode.FENCED_INSTANCE_ID
        self.cycle.complete_join(member, Joined(error=fenced, member_id=member.member_id))
        self.cycle.complete_sync(member, Synced(error=fenced))
        self.roster.replace(member, new_id)
        self.roster.update(
            member, joining, with_timeouts=self._facts.rejoin_updates_member_timeouts
        )
        self.cycle.watch(member)
        if self._rejoin_rebalances():
            self.roster.hold(member, response)
            self.cycle.begin()
            return
        if (
            self.state is ClassicState.STABLE
            and self._facts.static_rejoin_with_other_protocol_rebalances
        ):
            self.cycle.when_settled()
        skips = joining.can_skip_assignment and self.roster.leader_id == new_id
        response(self.cycle.rejoined(member, None if skips else old_leader_id))

    def _rejoin_rebalances(self) -> bool:
        if self.state is ClassicState.COMPLETING:
            return self._facts.static_rejoin_before_assignment_rebalances
        return self.state is not ClassicState.STABLE or (
            self._facts.static_rejoin_with_other_protocol_rebalances
            and self.cycle.protocol_name != self.roster.selected_protocol()
        )

    # SyncGroup, Heartbeat, LeaveGroup

    def sync(self, syncing: Syncing, response: OnSynced) -> None:
        """Handle a SyncGroup; `response` is called once the leader has sent the assignments."""
        error = self._sync_error(syncing)
        if error is not NO_ERROR:
            response(Synced(error=error))
            return
        member = self.roster.members[syncing.member_id]
        self.cycle.watch(member)
        self.cycle.has_synced(member)
        if self.state is ClassicState.STABLE:
            response(self.cycle.synced(member))
            return
        member.on_sync = response
        if member.member_id == self.roster.leader_id:
            self.cycle.assign(syncing.assignments)
        self.cycle.flush_responses()

    def _sync_error(self, syncing: Syncing) -> ErrorCode:
        error = self.error_of(syncing.member_id, syncing.instance_id)
        if error is not NO_ERROR:
            return error
        if syncing.generation_id != self.cycle.generation_id:
            return ErrorCode.ILLEGAL_GENERATION
        if syncing.protocol_type not in (None, self.protocol_type) or syncing.protocol_name not in (
            None,
            self.cycle.protocol_name,
        ):
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        if self.state is ClassicState.PREPARING:
            return ErrorCode.REBALANCE_IN_PROGRESS
        return NO_ERROR

    def heartbeat(self, member_id: str, instance_id: str | None, generation_id: int) -> ErrorCode:
        """Extend a member's session; the error says whether it must rejoin or is unknown."""
        error = self.error_of(member_id, instance_id)
        if error is not NO_ERROR:
            return error
        completing = self.state is ClassicState.COMPLETING
        if completing and not self._facts.heartbeat_checks_generation_before_state:
            return ErrorCode.REBALANCE_IN_PROGRESS
        if generation_id != self.cycle.generation_id:
            return ErrorCode.ILLEGAL_GENERATION
        self.cycle.watch(self.roster.members[member_id])
        if self.state is ClassicState.PREPARING or (
            completing and not self._facts.heartbeat_succeeds_while_awaiting_assignment
        ):
            return ErrorCode.REBALANCE_IN_PROGRESS
        return NO_ERROR

    def leave(self, identities: Sequence[tuple[str, str | None]]) -> list[ErrorCode]:
        """Remove members; return one error for each."""
        return [self._leave(*identity) for identity in identities]

    def _leave(self, member_id: str, instance_id: str | None) -> ErrorCode:
        """Remove a member, named by member id or by instance id alone (KIP-345)."""
        if instance_id is None and self.roster.forget_promise(member_id):
            self.cycle.check()
            self.cycle.flush_responses()
            return NO_ERROR
        if instance_id is not None and not member_id:
            member_id = self.roster.instances.get(instance_id, "")
        error = self.error_of(member_id, instance_id)
        if error is NO_ERROR:
            self.cycle.remove(self.roster.members[member_id])
            self.cycle.flush_responses()
        return error

    def error_of(self, member_id: str, instance_id: str | None) -> ErrorCode:
        """Return NONE for a current member, else the error for its request."""
        strict = self._facts.unknown_instance_is_unknown_member
        return self.roster.error_of(member_id, instance_id, strict=strict)

    # offsets

    def commit_error(
        self,
        commit: CommitIdentity,
        partitions: Collection[tuple[bytes, int]],  # noqa: ARG002 - one result for all of them
    ) -> ErrorCode:
        """Accept commits of members in their generation; others only while the group is empty."""
        return commit_error(self.cycle, self._facts, commit)

    def offset_delete_error(self) -> ErrorCode:
        """Return NON_EMPTY_GROUP if the group has members that are not consumers (KIP-496)."""
        if self.is_empty or self.protocol_type == CONSUMER_PROTOCOL_TYPE:
            return NO_ERROR
        return ErrorCode.NON_EMPTY_GROUP

    def subscribes_to(self, topic_name: str) -> bool:
        """Check the members' metadata; one that is not a subscription counts for every topic."""
        if self.is_empty or self.protocol_type != CONSUMER_PROTOCOL_TYPE:
            return False
        for member in self.roster.members.values():
            topics = subscription.topics_of(member.metadata(self.cycle.protocol_name))
            if topics is None or topic_name in topics:
                return True
        return False

    def idle_since_ms(self, topic_name: str, committed_ms: int) -> int | None:
        """Return the time the group became empty; the commit's if it never had members."""
        if not self.protocol_type:
            return committed_ms
        if self.is_empty:
            return self.cycle.empty_since_ms
        if self.state is not ClassicState.STABLE or self.protocol_type != CONSUMER_PROTOCOL_TYPE:
            return None
        return super().idle_since_ms(topic_name, committed_ms)

    def close(self) -> None:
        self.cycle.close()


def commit_error(cycle: ClassicRebalance, facts: GroupFacts, commit: CommitIdentity) -> ErrorCode:
    """Return NONE if offsets may be committed, and then restart the member's session timeout."""
    if commit.is_transactional and not facts.unknown_instance_is_unknown_member:
        return _lenient_error(cycle, commit)
    if _is_memberless_commit(cycle, commit):
        return NO_ERROR
    completing = cycle.state is ClassicState.COMPLETING and not commit.is_transactional
    if completing and not facts.commit_checks_member_before_state:
        return ErrorCode.REBALANCE_IN_PROGRESS
    error = _membership_error(cycle, commit, strict=facts.unknown_instance_is_unknown_member)
    if error is not NO_ERROR:
        return error
    if completing:
        return ErrorCode.REBALANCE_IN_PROGRESS
    if commit.member_id in cycle.roster.members:
        cycle.watch(cycle.roster.members[commit.member_id])
    return NO_ERROR


def _lenient_error(cycle: ClassicRebalance, commit: CommitIdentity) -> ErrorCode:
    """Check only the fields set in a transactional commit, in any state of the group."""
    if commit.member_id or commit.instance_id in cycle.roster.instances:
        error = cycle.roster.error_of(commit.member_id, commit.instance_id, strict=False)
        if error is not NO_ERROR:
            return error
    own = commit.generation_id in (-1, cycle.generation_id)
    return NO_ERROR if own else ErrorCode.ILLEGAL_GENERATION


def _membership_error(
    cycle: ClassicRebalance, commit: CommitIdentity, *, strict: bool
) -> ErrorCode:
    error = cycle.roster.error_of(commit.member_id, commit.instance_id, strict=strict)
    if error is not NO_ERROR:
        return error
    own = commit.generation_id == cycle.generation_id
    return NO_ERROR if own else ErrorCode.ILLEGAL_GENERATION


def _is_memberless_commit(cycle: ClassicRebalance, commit: CommitIdentity) -> bool:
    """Return whether the commit names no member and needs none: in an empty group, or in a
    transaction, which may name no member (before KIP-447 it could not).
    """
    if commit.generation_id >= 0:
        return False
    named = commit.member_id or commit.instance_id is not None
    is_empty = cycle.state is ClassicState.EMPTY
    return is_empty or (commit.is_transactional and not named)
