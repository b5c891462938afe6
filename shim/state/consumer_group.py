"""A consumer group (KIP-848): the broker assigns, members follow step by step.

Whatever changes what should be read by whom (members, subscriptions, topics) makes a new group
epoch; the assignor then sets the target of that epoch, and each member is brought there by its
own heartbeats (`consumer_member.py`).
"""

from collections.abc import Collection

from protocol.error_codes import ErrorCode
from protocol.group_releases import GroupBehaviour
from shim.clock import Clock
from shim.errors import Refused
from shim.state.assignors import ASSIGNORS, Assignment
from shim.state.consumer_member import (
    LEAVING,
    LEAVING_FOR_A_WHILE,
    ConsumerHeartbeat,
    ConsumerMember,
    IsFree,
    MemberState,
    is_part_of,
    merged,
)
from shim.state.group import CommitIdentity, Group, GroupType
from shim.state.group_settings import GroupSettings
from shim.state.group_target import GroupTarget
from shim.state.heartbeat_answer import HeartbeatAnswer
from shim.state.topics import Topics

CONSUMERS = "consumer"

EPOCH_IN_COMMITS_SINCE = 9
"""The OffsetCommit version that can say that a member's epoch is stale."""


class ConsumerGroup(Group):
    """One group of the consumer protocol."""

    type = GroupType.CONSUMER

    def __init__(
        self,
        group_id: str,
        settings: GroupSettings,
        behaviour: GroupBehaviour,
        topics: Topics,
        clock: Clock,
    ) -> None:
        super().__init__(group_id)
        self._settings = settings
        self._behaviour = behaviour
        self._clock = clock
        self.members: dict[str, ConsumerMember] = {}
        self.instances: dict[str, str] = {}
        self.target = GroupTarget(
            topics,
            clock,
            settings.group_consumer_assignment_interval_ms,
            behaviour.new_group_epoch,
        )

    # what others see

    @property
    def state_name(self) -> str:
        if not self.members:
            return "Empty"
        if self.target.epoch > self.target.target_epoch:
            return "Assigning"
        epoch = self.target.target_epoch
        calm = all(member.is_reconciled(epoch) for member in self.members.values())
        return "Stable" if calm else "Reconciling"

    @property
    def protocol_type(self) -> str:
        return CONSUMERS

    @property
    def is_empty(self) -> bool:
        return not self.members

    def shown_assignment(self, member: ConsumerMember) -> Assignment:
        """What ConsumerGroupDescribe says that a member has."""
        if self._behaviour.describes_revoking:
            return merged(member.assigned, member.revoking)
        return member.assigned

    @property
    def assignor_name(self) -> str:
        """The assignor that most members ask for, else the first that is configured."""
        votes: dict[str, int] = {}
        for member in self.members.values():
            if member.server_assignor is not None:
                votes[member.server_assignor] = votes.get(member.server_assignor, 0) + 1
        if not votes:
            return self._settings.group_consumer_assignors[0]
        return max(votes, key=lambda name: votes[name])

    # heartbeats

    def heartbeat(self, heartbeat: ConsumerHeartbeat) -> HeartbeatAnswer:
        """Join, stay or leave; raises Refused with the error of the whole request."""
        if heartbeat.member_epoch in (LEAVING, LEAVING_FOR_A_WHILE):
            return self._leave(heartbeat)
        member, is_new = self._member_of(heartbeat)
        changed = member.update(heartbeat) or is_new
        self.members[member.member_id] = member
        self.target.refresh(self.members.values(), ASSIGNORS[self.assignor_name], changed=changed)
        before = member.assigned
        member.reconcile(
            self.target.target_epoch,
            self.target.of(member.member_id),
            heartbeat.owned,
            self._is_free_for(member),
        )
        self._watch(member)
        if member.topic_regex is not None:
            # Kafka does it in the background: what matches is seen by the next heartbeat.
            self.target.resolve(member.topic_regex, heartbeat.visible)
        shown = member.assigned if heartbeat.is_full or member.assigned != before else None
        return self._answer(member.member_id, member.epoch, shown)

    def _answer(self, member_id: str, epoch: int, assignment: Assignment | None) -> HeartbeatAnswer:
        interval_ms = self._settings.group_consumer_heartbeat_interval_ms
        return HeartbeatAnswer(member_id, epoch, interval_ms, assignment)

    def _member_of(self, heartbeat: ConsumerHeartbeat) -> tuple[ConsumerMember, bool]:
        """The member that speaks, checked, and whether it is new; not yet part of the group."""
        joins = heartbeat.member_epoch == 0
        known = self.members.get(heartbeat.member_id)
        if joins and known is None and len(self.members) >= self._settings.group_consumer_max_size:
            raise Refused(ErrorCode.GROUP_MAX_SIZE_REACHED, "the group is full")
        if heartbeat.instance_id is not None:
            return self._static_member_of(heartbeat, joins=joins)
        if known is None:
            if not joins:
                raise self._unknown(heartbeat.member_id)
            return ConsumerMember(heartbeat.member_id, None), True
        if not joins:
            _check_epoch(known, heartbeat)
        return known, False

    def _static_member_of(
        self, heartbeat: ConsumerHeartbeat, *, joins: bool
    ) -> tuple[ConsumerMember, bool]:
        instance_id = heartbeat.instance_id
        assert instance_id is not None
        current = self.members.get(self.instances.get(instance_id, ""))
        if not joins:
            if current is None:
                raise self._unknown(instance_id)
            self._check_instance(current, heartbeat)
            _check_epoch(current, heartbeat)
            return current, False
        if current is not None and current.member_id == heartbeat.member_id:
            return current, False
        member = ConsumerMember(heartbeat.member_id, instance_id)
        if current is not None:
            if current.epoch != LEAVING_FOR_A_WHILE:
                text = f"instance `{instance_id}` is still in use by `{current.member_id}`"
                raise Refused(ErrorCode.UNRELEASED_INSTANCE_ID, text)
            member.take_over(current)
            self.target.hand_over(current.member_id, member.member_id)
            self._drop(current)
        self.instances[instance_id] = member.member_id
        return member, current is None

    def _unknown(self, who: str) -> Refused:
        text = f"`{who}` is not a member of group `{self.group_id}`"
        return Refused(ErrorCode.UNKNOWN_MEMBER_ID, text)

    def _check_instance(self, current: ConsumerMember, heartbeat: ConsumerHeartbeat) -> None:
        if current.member_id != heartbeat.member_id:
            text = f"instance `{heartbeat.instance_id}` belongs to `{current.member_id}` now"
            raise Refused(ErrorCode.FENCED_INSTANCE_ID, text)

    def _leave(self, heartbeat: ConsumerHeartbeat) -> HeartbeatAnswer:
        if heartbeat.instance_id is None:
            member = self.members.get(heartbeat.member_id)
            if member is None:
                raise self._unknown(heartbeat.member_id)
        else:
            member = self.members.get(self.instances.get(heartbeat.instance_id, ""))
            if member is None:
                raise self._unknown(heartbeat.instance_id)
            self._check_instance(member, heartbeat)
        if heartbeat.member_epoch == LEAVING_FOR_A_WHILE:
            member.stop_timers()
            member.epoch = LEAVING_FOR_A_WHILE
            member.revoking = {}
            self._start_session(member)
        else:
            self._remove(member)
        return HeartbeatAnswer(heartbeat.member_id, heartbeat.member_epoch, 0, None)

    # members go

    def _remove(self, member: ConsumerMember) -> None:
        self._drop(member)
        self.target.forget(member.member_id)
        self.target.begin_epoch()

    def _drop(self, member: ConsumerMember) -> None:
        member.stop_timers()
        del self.members[member.member_id]
        if self.instances.get(member.instance_id or "") == member.member_id:
            del self.instances[member.instance_id or ""]

    def _watch(self, member: ConsumerMember) -> None:
        """The member has been heard of; while it has to give up partitions, it has its time."""
        self._start_session(member)
        if member.state is not MemberState.UNREVOKED:
            if member.rebalance_timer is not None:
                member.rebalance_timer.cancel()
                member.rebalance_timer = None
        elif member.rebalance_timer is None:
            member.rebalance_timer = self._clock.call_later(
                member.rebalance_timeout_ms, lambda: self._remove(member)
            )

    def _start_session(self, member: ConsumerMember) -> None:
        if member.session_timer is not None:
            member.session_timer.cancel()
        member.session_timer = self._clock.call_later(
            self._settings.group_consumer_session_timeout_ms, lambda: self._remove(member)
        )

    def _is_free_for(self, member: ConsumerMember) -> IsFree:
        others = [one for one in self.members.values() if one is not member]
        return lambda topic_id, at: not any(one.holds(topic_id, at) for one in others)

    # offsets

    def commit_error(
        self, commit: CommitIdentity, partitions: Collection[tuple[bytes, int]]
    ) -> ErrorCode:
        if commit.generation_id < 0 and self.is_empty:
            return ErrorCode.NONE
        named = commit.generation_id >= 0 or commit.member_id or commit.instance_id is not None
        if commit.is_transactional and not named:
            return ErrorCode.NONE
        member = self.members.get(commit.member_id)
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if not commit.is_transactional and commit.version < EPOCH_IN_COMMITS_SINCE:
            return ErrorCode.UNSUPPORTED_VERSION
        epoch = commit.generation_id
        if self._behaviour.commits_since_assigned and 0 <= epoch < member.epoch:
            had = all(member.had_in(epoch, topic_id, at) for topic_id, at in partitions)
            return ErrorCode.NONE if had else ErrorCode.STALE_MEMBER_EPOCH
        return self._epoch_error(member, epoch)

    def fetch_error(self, member_id: str | None, member_epoch: int) -> ErrorCode:
        if member_id is None:
            # An epoch without a member is more than a real broker can bear.
            return ErrorCode.NONE if member_epoch < 0 else ErrorCode.UNKNOWN_SERVER_ERROR
        member = self.members.get(member_id)
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        return self._epoch_error(member, member_epoch)

    def _epoch_error(self, member: ConsumerMember, epoch: int) -> ErrorCode:
        return ErrorCode.NONE if epoch == member.epoch else ErrorCode.STALE_MEMBER_EPOCH

    def offset_delete_error(self) -> ErrorCode:
        return ErrorCode.NONE

    def subscribes_to(self, topic_name: str) -> bool:
        return any(topic_name in self.target.topics_of(one) for one in self.members.values())

    def close(self) -> None:
        for member in self.members.values():
            member.stop_timers()


def _check_epoch(member: ConsumerMember, heartbeat: ConsumerHeartbeat) -> None:
    """The member's epoch, or the one before, if the answer with the newer one may be lost."""
    epoch = heartbeat.member_epoch
    if epoch == member.epoch:
        return
    lost = epoch == member.previous_epoch and epoch < member.epoch
    if not lost or heartbeat.owned is None or not is_part_of(heartbeat.owned, member.assigned):
        text = f"epoch {epoch} is not that of `{member.member_id}`, {member.epoch}"
        raise Refused(ErrorCode.FENCED_MEMBER_EPOCH, text)
