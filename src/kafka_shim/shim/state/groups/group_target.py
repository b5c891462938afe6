"""A group's epoch and target assignment.

A new epoch begins whenever a subscription, the set of members or the assignable partitions change.
Its target is computed by the next heartbeat, at intervals (KIP-1263).

DEVIATION: it is computed immediately, as with `assignor.offload.enable=false` of 4.4.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, Protocol

import msgspec

from kafka_shim.shim.clock import Clock
from kafka_shim.shim.state.groups.assignors import (
    Assignment,
    Assignor,
    OrderedAssignment,
    Subscriber,
)
from kafka_shim.shim.state.groups.change_recording_dict import ChangeRecordingDict

NO_EPOCH: Final = 0
"""Epoch of a group before its first member; members send it to join."""


class TargetMember(Protocol):
    """The attributes of a member that a target needs."""

    member_id: str
    instance_id: str | None


class AssignablePartitions(Protocol):
    """The assignable partitions and the members' subscriptions."""

    @property
    def change_number(self) -> int:
        """A number that changes whenever other results may change."""

    def partition_counts(self, members: Any) -> Mapping[bytes, int]:
        """Return the number of assignable partitions by topic id."""

    def subscribed_topic_ids(self, member: Any) -> frozenset[bytes]:
        """Return the topic ids to which a member subscribes."""


class GroupTarget:
    """Epochs and target assignments of one group; `target_epoch` follows `epoch`.

    `first_epochs` are those of the group and its target before the first member joins. `delay_ms`
    is the initial delay, in which further members may join after the first.
    """

    def __init__(
        self,
        clock: Clock,
        interval_ms: Callable[[], int],
        first_epochs: tuple[int, int],
        *,
        delay_ms: Callable[[], int] = lambda: 0,
    ) -> None:
        self._clock = clock
        self._interval_ms = interval_ms
        self._delay_ms = delay_ms
        self.first_epochs = first_epochs
        self.epoch, self.target_epoch = first_epochs
        self._by_member: ChangeRecordingDict[str, Assignment] = ChangeRecordingDict()
        self._in_order: dict[str, OrderedAssignment] = {}  # the same in Java's iteration order
        self._begun_ms: int | None = None  # when the first member joined
        self._assigned_ms: int | None = None  # when a target was last set
        self._seen: int | None = None  # `change_number` at the last refresh
        self._object_counts: Mapping[bytes, int] = {}  # assignable partitions at the last refresh
        self._has_more = False

    def start_with_assigned(self, epoch: int, assigned_by_member: dict[str, Assignment]) -> None:
        """Start with members whose current assignments are their targets."""
        self.epoch = self.target_epoch = epoch
        self._by_member = ChangeRecordingDict(assigned_by_member)
        self._in_order = {}

    @property
    def by_member(self) -> ChangeRecordingDict[str, Assignment]:
        """The target assignment of each member."""
        return self._by_member

    def restore(self, epochs: tuple[int, int], by_member: Mapping[str, Assignment]) -> None:
        """Restore the epochs of group and target; a target, if any, counts as set long ago."""
        was_set = epochs[1] != self.target_epoch or bool(by_member)
        self.epoch, self.target_epoch = epochs
        self._by_member = ChangeRecordingDict(by_member)
        self._in_order = {}
        if was_set:
            self._begun_ms = self._assigned_ms = 0

    def record_assignable_partitions(
        self, assignable: AssignablePartitions, members: Collection[TargetMember]
    ) -> None:
        """Record the assignable partitions without beginning a new epoch."""
        self._seen = assignable.change_number
        self._object_counts = assignable.partition_counts(members)

    def have_assignable_partitions_changed(
        self, assignable: AssignablePartitions, members: Collection[TargetMember]
    ) -> bool:
        """Return whether the assignable partitions differ from those at the last refresh."""
        return assignable.partition_counts(members) != self._object_counts

    def restart_initial_delay(self) -> None:
        """Apply the initial delay again after the next member joins, as none is left."""
        self._begun_ms = self._assigned_ms = None

    def target_of_member(self, member_id: str) -> Assignment:
        return self._by_member.get(member_id, {})

    def pop_target_of_member(self, member_id: str) -> Assignment:
        self._in_order.pop(member_id, None)
        return self._by_member.pop(member_id, {})

    def replace_target_member_id(self, old_id: str, new_id: str) -> None:
        """Move the target of a static member that rejoined to its new id."""
        if old_id in self._in_order:
            self._in_order[new_id] = self._in_order[old_id]
        self._by_member[new_id] = self.pop_target_of_member(old_id)

    @property
    def partition_counts_at_last_refresh(self) -> Mapping[bytes, int]:
        """The assignable partitions by topic at the last refresh."""
        return self._object_counts

    @property
    def has_ever_been_computed(self) -> bool:
        return self._assigned_ms is not None

    @property
    def awaits_computation(self) -> bool:
        """Return whether the target of the current epoch is not computed yet."""
        return self.epoch > self.target_epoch

    def update_target(
        self,
        assignable: AssignablePartitions,
        members: Collection[TargetMember],
        assign: Assignor,
        *,
        subscription_changed: bool,
        keeps_target: bool = False,
    ) -> None:
        """Begin a new epoch if anything changed and compute its target
        if that is due, unless `keeps_target`.
        """
        if subscription_changed or self._has_more or self._seen != assignable.change_number:
            self._seen = assignable.change_number
            self._begin_changed_epoch(
                assignable.partition_counts(members), subscription_changed=subscription_changed
            )
        if not keeps_target and self._is_computation_due():
            self._assigned_ms = self._clock.now_ms()
            subscribers = [
                Subscriber(
                    member.member_id,
                    member.instance_id,
                    assignable.subscribed_topic_ids(member),
                    self._in_order.get(member.member_id, self.target_of_member(member.member_id)),
                )
                for member in members
            ]
            self._set_targets(assign(subscribers, self._object_counts))
            self.target_epoch = self.epoch

    def _set_targets(self, targets: Mapping[str, OrderedAssignment]) -> None:
        """Set the targets; unchanged ones keep their order, as Kafka does not log them again."""
        before, self._by_member = self._by_member, ChangeRecordingDict()
        for member_id, held in targets.items():
            there = {topic_id: frozenset(at) for topic_id, at in held.items()}
            self._by_member[member_id] = there
            if member_id not in self._in_order or there != before.get(member_id):
                self._in_order[member_id] = held

    def _begin_changed_epoch(
        self, counts: Mapping[bytes, int], *, subscription_changed: bool
    ) -> None:
        if self._begun_ms is None:
            self._begun_ms = self._clock.now_ms()
        more = self._has_more and not self.awaits_computation
        self._has_more = False
        if subscription_changed or more or counts != self._object_counts or self.epoch == NO_EPOCH:
            self.epoch += 1
        self._object_counts = counts

    def _is_computation_due(self) -> bool:
        return self.awaits_computation and self._may_be_computed()

    def _may_be_computed(self) -> bool:
        now_ms = self._clock.now_ms()
        if self._assigned_ms is None:
            return now_ms - (self._begun_ms or now_ms) >= self._delay_ms()
        return now_ms - self._assigned_ms >= self._interval_ms()

    def request_epoch_for_more_partitions(self) -> None:
        """Record that more partitions are assignable: begins a new epoch unless a target is
        pending.
        """
        self._has_more = True

    def begin_epoch_for_changed_partitions(
        self, assignable: AssignablePartitions, members: Collection[TargetMember]
    ) -> None:
        """Begin a new epoch for changed partitions; the next heartbeat computes its target."""
        self.record_assignable_partitions(assignable, members)
        self.epoch += 1

    def begin_leave_epoch(self, *, sets_target_immediately: bool) -> None:
        """Begin a new epoch after a member left.

        Without `sets_target_immediately`, another member's heartbeat sets its target. The target
        after that is due without delay.
        """
        self.epoch += 1
        if sets_target_immediately:
            self.target_epoch = self.epoch
            self._assigned_ms = self._clock.now_ms() - self._interval_ms()


class HeartbeatResult(msgspec.Struct, frozen=True):
    """The response to a heartbeat; `assignment` is None if it has not changed."""

    member_id: str
    member_epoch: int
    interval_ms: int
    assignment: Assignment | None
