"""What the members of a group should have: group epoch, target assignment, and why.

A new epoch begins whenever a subscription, the set of members or what can be assigned changes;
the target of that epoch is computed with the next heartbeat, at intervals (KIP-1263).

DEVIATION: it is there at once, as with `assignor.offload.enable=false` of 4.4.
"""

from collections.abc import Callable, Collection, Mapping
from copy import copy
from typing import Any, Final, Protocol, Self

from kafka_shim.shim.clock import Clock
from kafka_shim.shim.state.groups.assignors import Assignment, Assignor, Held, Subscriber

NO_EPOCH: Final = 0
"""Of a group before its first member; a member says it to join."""


class Assigned(Protocol):
    """What has to be known of a member."""

    member_id: str
    instance_id: str | None


class Placed(Assigned, Protocol):
    """Somebody who has something already."""

    assigned: Assignment


class Assignable(Protocol):
    """What there is to assign, and who wants what of it."""

    @property
    def changes(self) -> int:
        """A number that is another one when the rest may be another."""

    def counts(self, members: Any) -> Mapping[bytes, int]:
        """How many partitions can be assigned, by topic id."""

    def wanted_by(self, member: Any) -> frozenset[bytes]:
        """The topics of which a member wants partitions."""


class GroupTarget:
    """Epochs and assignments of one group; `epoch` runs ahead of `target_epoch` in between.

    `first_epochs`: those of the group and of its target before anybody joins. `delay_ms`: how
    long further members are waited for after the first.
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
        self.epoch, self.target_epoch = first_epochs
        self._by_member: dict[str, Assignment] = {}
        self._in_order: dict[str, Held] = {}  # the same as Java goes through it
        self._begun_ms: int | None = None  # when the first member came
        self._assigned_ms: int | None = None  # when a target was last set
        self._seen: int | None = None  # the changes that were looked at last
        self._counts: Mapping[bytes, int] = {}  # what can be assigned, as last seen
        self._has_more = False

    def copy(self) -> Self:
        """Another one that can go on by itself."""
        made = copy(self)
        made._by_member = dict(self._by_member)
        made._in_order = dict(self._in_order)
        return made

    def begin_at(self, epoch: int, members: Collection[Placed]) -> None:
        """The group had members before, which have what they should."""
        self.epoch = self.target_epoch = epoch
        self._by_member = {member.member_id: member.assigned for member in members}
        self._in_order = {}

    @property
    def by_member(self) -> Mapping[str, Assignment]:
        """The target of each member."""
        return self._by_member

    def put_back(self, epochs: tuple[int, int], by_member: Mapping[str, Assignment]) -> None:
        """Be what it was: the epochs of group and target, set long ago if ever."""
        was_set = epochs[1] != self.target_epoch or bool(by_member)
        self.epoch, self.target_epoch = epochs
        self._by_member = dict(by_member)
        self._in_order = {}
        if was_set:
            self._begun_ms = self._assigned_ms = 0

    def see(self, assignable: Assignable, members: Collection[Assigned]) -> None:
        """What can be assigned now is nothing new."""
        self._seen = assignable.changes
        self._counts = assignable.counts(members)

    def wait_again(self) -> None:
        """Nobody is left: further members are waited for after the next one."""
        self._begun_ms = self._assigned_ms = None

    def of(self, member_id: str) -> Assignment:
        return self._by_member.get(member_id, {})

    def forget(self, member_id: str) -> Assignment:
        self._in_order.pop(member_id, None)
        return self._by_member.pop(member_id, {})

    def hand_over(self, old_id: str, new_id: str) -> None:
        """A static member is back under another id: its target is the same."""
        if old_id in self._in_order:
            self._in_order[new_id] = self._in_order[old_id]
        self._by_member[new_id] = self.forget(old_id)

    @property
    def was_ever_set(self) -> bool:
        return self._assigned_ms is not None

    @property
    def is_delayed(self) -> bool:
        """Whether members wait for a target that is not yet due."""
        return self.epoch > self.target_epoch

    def refresh(
        self,
        assignable: Assignable,
        members: Collection[Assigned],
        assign: Assignor,
        *,
        changed: bool,
        is_kept: bool = False,
    ) -> None:
        """Begin a new epoch if something changed (`changed`: what a member wants), and set its
        target if that is due, unless it `is_kept`.
        """
        if changed or self._has_more or self._seen != assignable.changes:
            self._seen = assignable.changes
            self._notice(assignable.counts(members), changed=changed)
        if not is_kept and self._is_due():
            self._assigned_ms = self._clock.now_ms()
            subscribers = [
                Subscriber(
                    member.member_id,
                    member.instance_id,
                    assignable.wanted_by(member),
                    self._in_order.get(member.member_id, self.of(member.member_id)),
                )
                for member in members
            ]
            self._take_over(assign(subscribers, self._counts))
            self.target_epoch = self.epoch

    def _take_over(self, given: Mapping[str, Held]) -> None:
        """What is the same for a member keeps its order, as it is not written to a broker's log."""
        before, self._by_member = self._by_member, {}
        for member_id, held in given.items():
            there = {topic_id: frozenset(at) for topic_id, at in held.items()}
            self._by_member[member_id] = there
            if member_id not in self._in_order or there != before.get(member_id):
                self._in_order[member_id] = held

    def _notice(self, counts: Mapping[bytes, int], *, changed: bool) -> None:
        if self._begun_ms is None:
            self._begun_ms = self._clock.now_ms()
        more = self._has_more and not self.is_delayed
        self._has_more = False
        if changed or more or counts != self._counts or self.epoch == NO_EPOCH:
            self.epoch += 1
        self._counts = counts

    def _is_due(self) -> bool:
        return self.is_delayed and self._may_be_set()

    def _may_be_set(self) -> bool:
        now_ms = self._clock.now_ms()
        if self._assigned_ms is None:
            return now_ms - (self._begun_ms or now_ms) >= self._delay_ms()
        return now_ms - self._assigned_ms >= self._interval_ms()

    def is_near(self, *, changed: bool) -> bool:
        """Whether the next heartbeat may set it; `changed`: if that begins a new epoch."""
        return (changed or self._has_more or self.is_delayed) and self._may_be_set()

    def has_more_to_assign(self) -> None:
        """More partitions can be given out: a new epoch, unless one waits for its target."""
        self._has_more = True

    def renew(self, assignable: Assignable, members: Collection[Assigned]) -> None:
        """What can be assigned is another: a new epoch, whose target the next heartbeat sets."""
        self.see(assignable, members)
        self.epoch += 1

    def begin_epoch(self, *, is_empty: bool) -> None:
        """A member left: the target is set when another one is heard, or now if there is none.

        After that the next target is due without delay.
        """
        self.epoch += 1
        if is_empty:
            self.target_epoch = self.epoch
            self._assigned_ms = self._clock.now_ms() - self._interval_ms()
