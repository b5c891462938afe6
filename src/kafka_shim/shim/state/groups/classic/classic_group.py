"""A classic group: its handling of JoinGroup, SyncGroup, Heartbeat and LeaveGroup.

A group created by a mere offset commit is one too. State changes are in `classic_rebalance.py`,
members in `classic_members.py`, and checks of commits in `classic_group.py`.
"""

import random
from collections.abc import Collection, Sequence
from typing import Final

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.releases.groups import GroupFacts
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.state.groups.classic import consumer_protocol
from kafka_shim.shim.state.groups.classic.classic_members import (
    ClassicMember,
    ClassicMembers,
    DescribedMember,
    JoinRequest,
    JoinResponse,
    OnJoined,
    OnSynced,
    SyncRequest,
    SyncResponse,
    new_uuid,
)
from kafka_shim.shim.state.groups.classic.classic_rebalance import ClassicRebalance, ClassicState
from kafka_shim.shim.state.groups.group import CommitIdentity, Group, GroupType
from kafka_shim.shim.state.settings.group_settings import GroupSettings

CONSUMER_PROTOCOL_TYPE: Final = "consumer"
"""The protocol type of consumers; `connect` is another."""
# module constants: enum attribute lookup is slow on CPython 3.11
_COMPLETING, _PREPARING = ClassicState.COMPLETING, ClassicState.PREPARING
_EMPTY = ClassicState.EMPTY


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
        self.rebalance = ClassicRebalance(settings, facts, clock)

    @property
    def roster(self) -> ClassicMembers:
        return self.rebalance.roster

    @property
    def state(self) -> ClassicState:
        return self.rebalance.state

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
    def stable_protocol_name(self) -> str:
        """Name of the selected protocol if the group is stable, else empty."""
        return (self.rebalance.protocol_name or "") if self.state is ClassicState.STABLE else ""

    def described_members(self) -> list[DescribedMember]:
        """Return the members for DescribeGroups; with metadata only while the group is stable."""
        return [
            DescribedMember(
                member.member_id,
                member.instance_id,
                member.client_id,
                member.client_host,
                *self._described_member(member),
            )
            for member in self.roster.members.values()
        ]

    def _described_member(self, member: ClassicMember) -> tuple[bytes, bytes]:
        """Return the metadata and assignment that the release shows in this state."""
        if self.state is not ClassicState.STABLE:
            return b"", member.assignment if self._facts.java_group_coordinator else b""
        if not self._facts.describe_groups_returns_member_metadata:
            return member.assignment, member.assignment
        return member.metadata_of_protocol(self.rebalance.protocol_name), member.assignment

    def remove_overdue_members(self) -> None:
        self.rebalance.remove_overdue_members()

    # JoinGroup

    def join(self, joining: JoinRequest, response: OnJoined) -> None:
        """Join the next generation; `response` is called when it begins, or now with an error."""
        error = self._join_error(joining)
        if error is not NO_ERROR:
            response(JoinResponse(error=error, member_id=joining.member_id))
        elif not joining.member_id:
            self._join_without_member_id(joining, response)
        elif joining.member_id in self.roster.pending_member_ids:
            self._add_member(joining.member_id, joining, response)
        else:
            self._rejoin(self.roster.members[joining.member_id], joining, response)
        self.rebalance.flush_responses()

    def _join_error(self, joining: JoinRequest) -> ErrorCode:
        if not self._has_room_for(joining.member_id):
            return ErrorCode.GROUP_MAX_SIZE_REACHED
        is_checked = self._facts.join_requires_protocol_type
        if not self.roster.accepts_protocols(
            joining.protocol_type, joining.protocols, empty_group_requires_protocol=is_checked
        ):
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        if self.rebalance.lacks_common_protocol and joining.protocol_type != self.protocol_type:
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        if not joining.member_id or joining.member_id in self.roster.pending_member_ids:
            return NO_ERROR
        return self.member_identity_error(joining.member_id, joining.instance_id)

    def _has_room_for(self, member_id: str) -> bool:
        size_max = self._settings.classic_size_max
        member = self.roster.members.get(member_id)
        if self.state is ClassicState.PREPARING:
            waits = member is not None and member.on_join is not None
            return waits or self.roster.joining_count < size_max
        return self.is_empty or member is not None or len(self.roster) < size_max

    def _join_without_member_id(self, joining: JoinRequest, response: OnJoined) -> None:
        instance_id = joining.instance_id
        member_id = f"{instance_id or joining.client_id}-{new_uuid(self._random)}"
        replaced_id = None if instance_id is None else self.roster.instances.get(instance_id)
        if replaced_id is not None:
            self._rejoin_static_member(
                self.roster.members[replaced_id], member_id, joining, response
            )
        elif joining.requires_known_member_id and instance_id is None:
            self.rebalance.reserve_member_id(member_id, joining.session_timeout_ms)
            response(JoinResponse(error=ErrorCode.MEMBER_ID_REQUIRED, member_id=member_id))
        else:
            self._add_member(member_id, joining, response)

    def _add_member(self, member_id: str, joining: JoinRequest, response: OnJoined) -> None:
        member = ClassicMember(member_id, joining)
        self.roster.set_pending_join(member, response)
        self.rebalance.add_joining_member(member, joining.protocol_type)

    def _rejoin(self, member: ClassicMember, joining: JoinRequest, response: OnJoined) -> None:
        """Handle a member's new JoinGroup: rebalance if it is the leader or has changed."""
        changed = member.protocols != joining.protocols
        leads = member.member_id == self.roster.leader_id
        self.roster.update_member_protocols_from_join(
            member, joining, with_timeouts=self._facts.rejoin_updates_member_timeouts
        )
        if not changed and (
            self.state is ClassicState.COMPLETING
            or (self.state is ClassicState.STABLE and not leads)
        ):
            self.rebalance.restart_session_timeout(member)
            response(self.rebalance.join_result_of(member))
            return
        self.roster.set_pending_join(member, response)
        self.rebalance.rebalance()

    def _rejoin_static_member(
        self, member: ClassicMember, new_id: str, joining: JoinRequest, response: OnJoined
    ) -> None:
        """Handle the JoinGroup of a static member that rejoined, if possible without a rebalance.

        A leader that rejoined must not assign again (KIP-345). The response says so (KIP-814), or
        in versions without that field, names the previous member id as the leader.
        """
        old_leader_id = self.roster.leader_id
        fenced = ErrorCode.FENCED_INSTANCE_ID
        self.rebalance.respond_to_join(
            member, JoinResponse(error=fenced, member_id=member.member_id)
        )
        self.rebalance.respond_to_sync(member, SyncResponse(error=fenced))
        self.roster.replace_static_member_id(member, new_id)
        self.roster.update_member_protocols_from_join(
            member, joining, with_timeouts=self._facts.rejoin_updates_member_timeouts
        )
        self.rebalance.restart_session_timeout(member)
        if self._static_rejoin_causes_rebalance():
            self.roster.set_pending_join(member, response)
            self.rebalance.rebalance()
            return
        if (
            self.state is ClassicState.STABLE
            and self._facts.static_rejoin_with_other_protocol_rebalances
        ):
            self.rebalance.on_settled()
        skips = joining.supports_skip_assignment and self.roster.leader_id == new_id
        response(self.rebalance.static_rejoin_result_of(member, None if skips else old_leader_id))

    def _static_rejoin_causes_rebalance(self) -> bool:
        if self.state is ClassicState.COMPLETING:
            return self._facts.static_rejoin_before_assignment_rebalances
        return self.state is not ClassicState.STABLE or (
            self._facts.static_rejoin_with_other_protocol_rebalances
            and self.rebalance.protocol_name != self.roster.selected_protocol()
        )

    # SyncGroup, Heartbeat, LeaveGroup

    def sync(self, syncing: SyncRequest, response: OnSynced) -> None:
        """Handle a SyncGroup; `response` is called once the leader has sent the assignments."""
        error = self._sync_error(syncing)
        if error is not NO_ERROR:
            response(SyncResponse(error=error))
            return
        member = self.roster.members[syncing.member_id]
        self.rebalance.restart_session_timeout(member)
        self.rebalance.mark_synced(member)
        if self.state is ClassicState.STABLE:
            response(self.rebalance.sync_result_of(member))
            return
        member.on_sync = response
        if member.member_id == self.roster.leader_id:
            self.rebalance.complete_sync(syncing.assignments)
        self.rebalance.flush_responses()

    def _sync_error(self, syncing: SyncRequest) -> ErrorCode:
        error = self.member_identity_error(syncing.member_id, syncing.instance_id)
        if error is not NO_ERROR:
            return error
        if syncing.generation_id != self.rebalance.generation_id:
            return ErrorCode.ILLEGAL_GENERATION
        if syncing.protocol_type not in (None, self.protocol_type) or syncing.protocol_name not in (
            None,
            self.rebalance.protocol_name,
        ):
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        if self.state is ClassicState.PREPARING:
            return ErrorCode.REBALANCE_IN_PROGRESS
        return NO_ERROR

    def heartbeat(self, member_id: str, instance_id: str | None, generation_id: int) -> ErrorCode:
        """Extend a member's session; the error says whether it must rejoin or is unknown."""
        error = self.member_identity_error(member_id, instance_id)
        if error is not NO_ERROR:
            return error
        completing = self.state is _COMPLETING
        if completing and not self._facts.heartbeat_checks_generation_before_state:
            return ErrorCode.REBALANCE_IN_PROGRESS
        if generation_id != self.rebalance.generation_id:
            return ErrorCode.ILLEGAL_GENERATION
        self.rebalance.restart_session_timeout(self.roster.members[member_id])
        if self.state is _PREPARING or (
            completing and not self._facts.heartbeat_succeeds_while_awaiting_assignment
        ):
            return ErrorCode.REBALANCE_IN_PROGRESS
        return NO_ERROR

    def remove_leaving_members(
        self, identities: Sequence[tuple[str, str | None]]
    ) -> list[ErrorCode]:
        """Remove members; return one error for each."""
        return [self._remove_leaving_member(*identity) for identity in identities]

    def _remove_leaving_member(self, member_id: str, instance_id: str | None) -> ErrorCode:
        """Remove a member, named by member id or by instance id alone (KIP-345)."""
        if instance_id is None and self.roster.drop_pending_member_id(member_id):
            self.rebalance.complete_join()
            self.rebalance.flush_responses()
            return NO_ERROR
        if instance_id is not None and not member_id:
            member_id = self.roster.instances.get(instance_id, "")
        error = self.member_identity_error(member_id, instance_id)
        if error is NO_ERROR:
            self.rebalance.remove_departed_member(self.roster.members[member_id])
            self.rebalance.flush_responses()
        return error

    def member_identity_error(self, member_id: str, instance_id: str | None) -> ErrorCode:
        """Return NONE for a current member, else the error for its request."""
        strict = self._facts.unknown_instance_is_unknown_member
        return self.roster.member_identity_error(
            member_id, instance_id, unknown_instance_is_error=strict
        )

    # offsets

    def commit_error(
        self,
        commit: CommitIdentity,
        partitions: Collection[tuple[bytes, int]],  # noqa: ARG002 - one result for all of them
    ) -> ErrorCode:
        """Accept commits of members in their generation; others only while the group is empty."""
        return check_classic_commit(self.rebalance, self._facts, commit)

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
            topics = consumer_protocol.subscribed_topic_names(
                member.metadata_of_protocol(self.rebalance.protocol_name)
            )
            if topics is None or topic_name in topics:
                return True
        return False

    def offset_unused_since_ms(self, topic_name: str, committed_ms: int) -> int | None:
        """Return the time the group became empty; the commit's if it never had members."""
        if not self.protocol_type:
            return committed_ms
        if self.is_empty:
            return self.rebalance.empty_since_ms
        if self.state is not ClassicState.STABLE or self.protocol_type != CONSUMER_PROTOCOL_TYPE:
            return None
        return super().offset_unused_since_ms(topic_name, committed_ms)

    def close(self) -> None:
        self.rebalance.stop_timers()


def check_classic_commit(
    rebalance: ClassicRebalance, facts: GroupFacts, commit: CommitIdentity
) -> ErrorCode:
    """Return NONE if offsets may be committed, and then restart the member's session timeout."""
    if commit.is_transactional and not facts.unknown_instance_is_unknown_member:
        return _lenient_transactional_commit_error(rebalance, commit)
    if _is_commit_outside_generation(rebalance, commit):
        return NO_ERROR
    completing = rebalance.state is ClassicState.COMPLETING and not commit.is_transactional
    if completing and not facts.commit_checks_member_before_state:
        return ErrorCode.REBALANCE_IN_PROGRESS
    error = _generation_error(
        rebalance, commit, unknown_instance_is_error=facts.unknown_instance_is_unknown_member
    )
    if error is not NO_ERROR:
        return error
    if completing:
        return ErrorCode.REBALANCE_IN_PROGRESS
    if commit.member_id in rebalance.roster.members:
        rebalance.restart_session_timeout(rebalance.roster.members[commit.member_id])
    return NO_ERROR


def _lenient_transactional_commit_error(
    rebalance: ClassicRebalance, commit: CommitIdentity
) -> ErrorCode:
    """Check only the fields set in a transactional commit, in any state of the group."""
    if commit.member_id or commit.instance_id in rebalance.roster.instances:
        error = rebalance.roster.member_identity_error(
            commit.member_id, commit.instance_id, unknown_instance_is_error=False
        )
        if error is not NO_ERROR:
            return error
    own = commit.generation_id in (-1, rebalance.generation_id)
    return NO_ERROR if own else ErrorCode.ILLEGAL_GENERATION


def _generation_error(
    rebalance: ClassicRebalance, commit: CommitIdentity, *, unknown_instance_is_error: bool
) -> ErrorCode:
    error = rebalance.roster.member_identity_error(
        commit.member_id, commit.instance_id, unknown_instance_is_error=unknown_instance_is_error
    )
    if error is not NO_ERROR:
        return error
    own = commit.generation_id == rebalance.generation_id
    return NO_ERROR if own else ErrorCode.ILLEGAL_GENERATION


def _is_commit_outside_generation(rebalance: ClassicRebalance, commit: CommitIdentity) -> bool:
    """Return whether the commit names no member and needs none: in an empty group, or in a
    transaction, which may name no member (before KIP-447 it could not).
    """
    if commit.generation_id >= 0:
        return False
    named = commit.member_id or commit.instance_id is not None
    is_empty = rebalance.state is _EMPTY
    return is_empty or (commit.is_transactional and not named)
