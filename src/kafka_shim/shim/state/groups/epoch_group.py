"""The common part of consumer groups and streams groups: members with epochs, static members,
timers, and checks of the epochs in commits (KIP-848).
"""

from collections.abc import Callable, Collection
from copy import copy
from typing import Generic, TypeVar

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.releases.groups import GroupFacts
from kafka_shim.shim.clock import Clock, Deadline, Timer
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.state.groups.assignors import Assignment
from kafka_shim.shim.state.groups.change_recording_dict import ChangeRecordingDict
from kafka_shim.shim.state.groups.group import CommitIdentity, Group
from kafka_shim.shim.state.groups.group_target import GroupTarget
from kafka_shim.shim.state.groups.reconciliation import (
    LEAVING_FOR_A_WHILE,
    IsUnowned,
    ReconciliationState,
    ReconcilingMember,
    is_subset_of_assignment,
)


class MemberTimers:
    """Timers by member id; `expire` is called with the id of a member whose time is over."""

    def __init__(self, clock: Clock, expire: Callable[[str], None]) -> None:
        self._clock = clock
        self._expire = expire
        self._sessions: dict[str, Deadline] = {}
        self._rebalances: dict[str, Timer] = {}

    def restart_session_timeout(self, member_id: str, timeout_ms: float) -> None:
        """Start or restart the session timeout of a member."""
        session = self._sessions.get(member_id)
        if session is None:
            session = Deadline(self._clock, lambda: self._expire(member_id))
            self._sessions[member_id] = session
        session.restart(timeout_ms)

    def start_rebalance_timeout(self, member_id: str, timeout_ms: float) -> None:
        """Start the rebalance timeout of a member, unless it is running."""
        if member_id not in self._rebalances:
            self._rebalances[member_id] = self._clock.call_later(
                timeout_ms, lambda: self._expire(member_id)
            )

    def stop_rebalance_timeout(self, member_id: str) -> None:
        """Stop the rebalance timeout of a member, if it is running."""
        if (timer := self._rebalances.pop(member_id, None)) is not None:
            timer.cancel()

    def stop_timers(self, member_id: str) -> None:
        """Stop both timeouts of a member."""
        self.stop_rebalance_timeout(member_id)
        if (session := self._sessions.pop(member_id, None)) is not None:
            session.cancel()

    def stop_all(self) -> None:
        """Stop the timeouts of all members."""
        for member_id in [*self._sessions, *self._rebalances]:
            self.stop_timers(member_id)


EPOCH_IN_COMMITS_SINCE = 9
"""First version of OffsetCommit with STALE_MEMBER_EPOCH."""

FEW = 5
"""From this number of partitions on, the partitions of all other members are collected first."""

Member = TypeVar("Member", bound=ReconcilingMember)


class EpochGroup(Group, Generic[Member]):
    """A group whose members are reconciled one at a time."""

    target: GroupTarget

    def __init__(
        self,
        group_id: str,
        session_timeout_ms: Callable[[], int],
        facts: GroupFacts,
        clock: Clock,
    ) -> None:
        super().__init__(group_id)
        self._session_timeout_ms = session_timeout_ms
        self._facts = facts
        self._clock = clock
        self.timers = MemberTimers(clock, self._remove_expired_member)
        self.members: ChangeRecordingDict[str, Member] = ChangeRecordingDict()
        self.instances: dict[str, str] = {}
        """The member of each static instance (KIP-345, KIP-848; KIP-1071 since 4.4)."""

    @property
    def is_empty(self) -> bool:
        return not self.members

    @property
    def member_count(self) -> int:
        return len(self.members)

    @property
    def state_name(self) -> str:
        if not self.members:
            return "Empty"
        if self.target.epoch > self.target.target_epoch:
            return "Assigning"
        epoch = self.target.target_epoch
        calm = all(member.is_reconciled(epoch) for member in self.members.values())
        return "Stable" if calm else "Reconciling"

    # members

    def require_member(self, member_id: str) -> Member:
        """Return a member by id; raise UNKNOWN_MEMBER_ID if there is none."""
        found = self.members.get(member_id)
        if found is None:
            raise self.unknown_member_error(member_id)
        return found

    def unknown_member_error(self, member_id: str) -> RequestRejected:
        text = f"`{member_id}` is not a member of group `{self.group_id}`"
        return RequestRejected(ErrorCode.UNKNOWN_MEMBER_ID, text)

    # static members

    def require_released_static_member(self, instance_id: str) -> Member | None:
        """Return the former member of an instance.

        Raise RequestRejected if that member has not left.
        """
        current = self.members.get(self.instances.get(instance_id, ""))
        if current and not current.uses_classic_protocol and current.epoch != LEAVING_FOR_A_WHILE:
            text = f"instance `{instance_id}` is still in use by `{current.member_id}`"
            raise RequestRejected(ErrorCode.UNRELEASED_INSTANCE_ID, text)
        return current

    def require_member_of_instance(self, instance_id: str, member_id: str) -> Member:
        """Return the member of an instance.

        Raise RequestRejected if the instance is unknown or has another member.
        """
        if instance_id not in self.instances:
            raise self.unknown_member_error(instance_id)
        current = self.require_member(self.instances[instance_id])
        if current.member_id != member_id:
            text = f"instance `{instance_id}` belongs to `{current.member_id}` now"
            raise RequestRejected(ErrorCode.FENCED_INSTANCE_ID, text)
        return current

    def require_leaving_member(self, member_id: str, instance_id: str | None) -> Member:
        """Return the member that leaves.

        Raise RequestRejected if it does not exist.
        """
        if instance_id is None:
            return self.require_member(member_id)
        return self.require_member_of_instance(instance_id, member_id)

    # assignments

    def reconcile_member(self, member: Member, owned: Assignment | None) -> bool:
        """Reconcile a member by one step; return whether its assignment changed."""
        before = member.assigned
        member.reconcile_one_step(
            self.target.target_epoch,
            self._target_for_reconciliation(member),
            owned,
            self._create_unowned_check(member),
        )
        return member.assigned != before

    def _target_for_reconciliation(self, member: Member) -> Assignment:
        """Return the part of its target that a member is reconciled with."""
        return self.target.target_of_member(member.member_id)

    def remove_members(self, *members: Member) -> None:
        """Remove members that left or exceeded their session or rebalance timeout."""
        for member in members:
            self.drop_member_in_epoch(member)
            self.target.pop_target_of_member(member.member_id)
        self.target.begin_leave_epoch(
            sets_target_immediately=self._facts.recomputes_target_when_empty and not self.members
        )

    def _remove_expired_member(self, member_id: str) -> None:
        self.remove_members(self.members[member_id])
        self.on_changed(None)

    def leave_as_static_member(self, member: Member) -> None:
        """Let a static member leave temporarily; it keeps its assignment."""
        self.timers.stop_rebalance_timeout(member.member_id)
        left = self.members[member.member_id] = copy(member)
        left.leave_temporarily()

    def drop_member_in_epoch(self, member: Member) -> None:
        """Remove a member, without beginning a new epoch."""
        self.timers.stop_timers(member.member_id)
        del self.members[member.member_id]
        instance_id = member.instance_id or ""
        if self.instances.get(instance_id) == member.member_id:
            del self.instances[instance_id]

    def restart_timeouts(self, member: Member) -> None:
        """Restart the session timeout, and set the rebalance timeout while it has to revoke."""
        self.restart_session_timeout(member)
        if member.state is ReconciliationState.UNREVOKED:
            self.start_rebalance_timeout(member)
        else:
            self.timers.stop_rebalance_timeout(member.member_id)

    def start_rebalance_timeout(self, member: Member) -> None:
        """Start the rebalance timeout, unless it is running."""
        self.timers.start_rebalance_timeout(member.member_id, member.rebalance_timeout_ms)

    def restart_session_timeout(self, member: Member) -> None:
        """Start or restart the session timeout of a member."""
        timeout_ms = member.requested_session_timeout_ms or self._session_timeout_ms()
        self.timers.restart_session_timeout(member.member_id, timeout_ms)

    def awaits_revocation_by_others(self, member: Member) -> bool:
        """Return whether another member still holds a partition of this member's target."""
        is_free = self._create_unowned_check(member)
        return any(
            not is_free(topic_id, at)
            for topic_id, partitions in self.target.target_of_member(member.member_id).items()
            for at in partitions - member.assigned.get(topic_id, frozenset())
        )

    @property
    def revoking_partitions_can_return(self) -> bool:
        """Return whether a member can keep a partition that it was to revoke immediately."""
        return False

    def _create_unowned_check(self, member: Member) -> IsUnowned:
        given_up = {} if self.revoking_partitions_can_return else member.revoking
        asked = 0
        held: dict[bytes, set[int]] = {}

        def is_free_to_take(topic_id: bytes, at: int) -> bool:
            nonlocal asked
            if at in given_up.get(topic_id, ()):
                return False
            asked += 1
            if asked < FEW:
                members = self.members.values()
                return not any(
                    other.holds(topic_id, at) and other is not member for other in members
                )
            if asked == FEW:
                held.update(self._partitions_of_other_members(member))
            return at not in held.get(topic_id, ())

        return is_free_to_take

    def _partitions_of_other_members(self, member: Member) -> dict[bytes, set[int]]:
        """Return the partitions that other members hold, including those
        they have yet to revoke.
        """
        found: dict[bytes, set[int]] = {}
        for other in self.members.values():
            if other is not member:
                for topic_id, partitions in (*other.assigned.items(), *other.revoking.items()):
                    found.setdefault(topic_id, set()).update(partitions)
        return found

    # offsets

    def commit_error(
        self, commit: CommitIdentity, partitions: Collection[tuple[bytes, int]]
    ) -> ErrorCode:
        """Accept commits in the member's epoch, or in an older one where allowed (KIP-848)."""
        if commit.generation_id < 0 and self.is_empty:
            return NO_ERROR
        named = commit.generation_id >= 0 or commit.member_id or commit.instance_id is not None
        needs_member = not commit.is_transactional or self._facts.consumer_groups_are_preview
        if not (named or needs_member):
            return NO_ERROR
        member = self.members.get(commit.member_id)
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        knows_epochs = member.uses_classic_protocol or commit.version >= EPOCH_IN_COMMITS_SINCE
        if not (commit.is_transactional or knows_epochs):
            return ErrorCode.UNSUPPORTED_VERSION
        epoch = commit.generation_id
        error = self._epoch_error(member, epoch)
        if self._facts.commit_accepts_epoch_since_assignment and 0 <= epoch < member.epoch:
            had = all(
                self.member_has_owned_since_epoch(member, epoch, topic_id, at)
                for topic_id, at in partitions
            )
            error = NO_ERROR if had else error
        if error is not ErrorCode.STALE_MEMBER_EPOCH or commit.version >= EPOCH_IN_COMMITS_SINCE:
            return error
        return ErrorCode.ILLEGAL_GENERATION if commit.is_transactional else error

    def member_has_owned_since_epoch(
        self, member: Member, epoch: int, topic_id: bytes, partition: int
    ) -> bool:
        """Return whether a member has held a partition since `epoch` or earlier."""
        return member.has_owned_since_epoch(epoch, topic_id, partition)

    def fetch_error(self, member_id: str | None, member_epoch: int) -> ErrorCode:
        if member_id is None:
            # A real broker fails on an epoch without a member.
            return NO_ERROR if member_epoch < 0 else ErrorCode.UNKNOWN_SERVER_ERROR
        member = self.members.get(member_id)
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        return self._epoch_error(member, member_epoch)

    def _epoch_error(self, member: Member, epoch: int) -> ErrorCode:
        if epoch == member.epoch:
            return NO_ERROR
        is_classic = member.uses_classic_protocol
        return ErrorCode.ILLEGAL_GENERATION if is_classic else ErrorCode.STALE_MEMBER_EPOCH

    def offset_delete_error(self) -> ErrorCode:
        return NO_ERROR

    def close(self) -> None:
        self.timers.stop_all()


def require_acceptable_epoch(
    member: ReconcilingMember, epoch: int, owned: Assignment | None
) -> None:
    """Raise FENCED_MEMBER_EPOCH unless it is the member's current or previous epoch.

    The previous one is valid if the response with the current one may have been lost.
    """
    if epoch == member.epoch:
        return
    lost = epoch == member.previous_epoch and epoch < member.epoch
    if not lost or owned is None or not is_subset_of_assignment(owned, member.assigned):
        text = (
            f"epoch {epoch} of member `{member.member_id}` is not the current one, {member.epoch}"
        )
        raise RequestRejected(ErrorCode.FENCED_MEMBER_EPOCH, text)
