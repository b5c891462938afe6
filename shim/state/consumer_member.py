"""A member of a consumer group (KIP-848), and how it gets from what it has to what it should have.

A member gives up before it is given: it first hears of the partitions it keeps, and only when it
owns nothing else any more it moves to the next epoch and takes what others have released.
"""

from collections.abc import Callable, Mapping
from enum import Enum

import msgspec

from shim.clock import Timer
from shim.state.assignors import Assignment

LEAVING = -1
"""The epoch with which a member leaves."""

LEAVING_FOR_A_WHILE = -2
"""The epoch with which a static member leaves to come back."""

IsFree = Callable[[bytes, int], bool]
"""Whether nobody else holds a partition."""


class MemberState(Enum):
    """How far a member is from its target."""

    STABLE = "stable"
    UNREVOKED = "unrevoked partitions"  # has to give up some first
    UNRELEASED = "unreleased partitions"  # waits for what others have not given up


class ConsumerHeartbeat(msgspec.Struct, frozen=True, kw_only=True):
    """A ConsumerGroupHeartbeat request; what is None has not changed.

    `visible` leaves of some topic names those that the caller may describe.
    """

    member_id: str
    member_epoch: int
    instance_id: str | None
    rack_id: str | None
    rebalance_timeout_ms: int  # -1: not changed
    topic_names: list[str] | None
    topic_regex: str | None
    server_assignor: str | None
    owned: Assignment | None
    client_id: str
    client_host: str
    visible: Callable[[list[str]], list[str]]

    @property
    def is_full(self) -> bool:
        """Whether it tells everything, so that it is told its whole assignment."""
        subscribes = self.topic_names is not None or self.topic_regex is not None
        tells = self.rebalance_timeout_ms != -1 and subscribes and self.owned is not None
        return self.member_epoch == 0 or tells


class ConsumerMember:
    """One member: what it wants, what it has, and what it must give up."""

    __slots__ = (
        "assigned",
        "assigned_in",
        "client_host",
        "client_id",
        "epoch",
        "instance_id",
        "member_id",
        "previous_epoch",
        "rack_id",
        "rebalance_timeout_ms",
        "rebalance_timer",
        "revoking",
        "server_assignor",
        "session_timer",
        "state",
        "topic_names",
        "topic_regex",
    )

    def __init__(self, member_id: str, instance_id: str | None) -> None:
        self.member_id = member_id
        self.instance_id = instance_id
        self.rack_id: str | None = None
        self.client_id = ""
        self.client_host = ""
        self.rebalance_timeout_ms = -1
        self.topic_names: frozenset[str] = frozenset()
        self.topic_regex: str | None = None
        self.server_assignor: str | None = None
        self.epoch = 0
        self.previous_epoch = 0
        self.state = MemberState.STABLE
        self.assigned: Assignment = {}
        self.assigned_in: dict[tuple[bytes, int], int] = {}  # epoch, by topic id and partition
        self.revoking: Assignment = {}
        self.session_timer: Timer | None = None
        self.rebalance_timer: Timer | None = None

    def update(self, heartbeat: ConsumerHeartbeat) -> bool:
        """Take over what the request tells; whether the subscription has changed."""
        before = (self.topic_names, self.topic_regex)
        self.client_id = heartbeat.client_id
        self.client_host = heartbeat.client_host
        if heartbeat.rack_id is not None:
            self.rack_id = heartbeat.rack_id
        if heartbeat.rebalance_timeout_ms >= 0:
            self.rebalance_timeout_ms = heartbeat.rebalance_timeout_ms
        if heartbeat.server_assignor is not None:
            self.server_assignor = heartbeat.server_assignor
        if heartbeat.topic_names is not None:
            self.topic_names = frozenset(heartbeat.topic_names)
        if heartbeat.topic_regex is not None:
            self.topic_regex = heartbeat.topic_regex or None
        return before != (self.topic_names, self.topic_regex)

    def take_over(self, other: "ConsumerMember") -> None:
        """A static member is back under another id: it has what it had."""
        self.rack_id = other.rack_id
        self.rebalance_timeout_ms = other.rebalance_timeout_ms
        self.topic_names = other.topic_names
        self.topic_regex = other.topic_regex
        self.server_assignor = other.server_assignor
        self.assigned = other.assigned
        self.assigned_in = dict(other.assigned_in)

    def is_reconciled(self, target_epoch: int) -> bool:
        return self.state is MemberState.STABLE and self.epoch == target_epoch

    def had_in(self, epoch: int, topic_id: bytes, partition: int) -> bool:
        """Whether it has a partition, and had it already in an earlier epoch."""
        since = self.assigned_in.get((topic_id, partition))
        return since is not None and since <= epoch

    def holds(self, topic_id: bytes, partition: int) -> bool:
        """Whether it has a partition, or has not yet given it up."""
        return partition in self.assigned.get(topic_id, ()) or partition in self.revoking.get(
            topic_id, ()
        )

    def reconcile(
        self, target_epoch: int, target: Assignment, owned: Assignment | None, is_free: IsFree
    ) -> None:
        """One step towards the target; `owned` is what the member says it has, if it does."""
        epoch = self.epoch
        if self.state is MemberState.STABLE and epoch == target_epoch:
            return
        if self.state is MemberState.UNREVOKED:
            if _overlap(owned, self.revoking):
                return
            epoch += 1
        kept = _both(self.assigned, target)
        revoking = _without(self.assigned, kept)
        missing = _without(target, kept)
        free = {
            topic_id: taken
            for topic_id, partitions in missing.items()
            if (taken := frozenset(at for at in partitions if is_free(topic_id, at)))
        }
        self._has_now(kept, epoch)
        if revoking and _overlap(owned, revoking):
            self._move_to(epoch)
            self.revoking = revoking
            self.state = MemberState.UNREVOKED
            return
        self._move_to(target_epoch)
        self.revoking = {}
        self._has_now(merged(kept, free), target_epoch)
        self.state = MemberState.STABLE if free == missing else MemberState.UNRELEASED

    def _has_now(self, assigned: Assignment, epoch: int) -> None:
        before = self.assigned_in
        self.assigned = assigned
        self.assigned_in = {
            (topic_id, at): before.get((topic_id, at), epoch)
            for topic_id, partitions in assigned.items()
            for at in partitions
        }

    def _move_to(self, epoch: int) -> None:
        if epoch != self.epoch:
            self.previous_epoch = self.epoch
            self.epoch = epoch

    def stop_timers(self) -> None:
        for timer in (self.session_timer, self.rebalance_timer):
            if timer is not None:
                timer.cancel()
        self.session_timer = self.rebalance_timer = None


def merged(one: Mapping[bytes, frozenset[int]], other: Assignment) -> Assignment:
    topic_ids = [*one, *(topic_id for topic_id in other if topic_id not in one)]
    return {
        topic_id: one.get(topic_id, frozenset()) | other.get(topic_id, frozenset())
        for topic_id in topic_ids
    }


def is_part_of(some: Assignment, whole: Assignment) -> bool:
    return all(held <= whole.get(topic_id, frozenset()) for topic_id, held in some.items())


def _both(one: Assignment, other: Assignment) -> Assignment:
    common = {topic_id: held & other.get(topic_id, frozenset()) for topic_id, held in one.items()}
    return {topic_id: held for topic_id, held in common.items() if held}


def _without(one: Assignment, other: Assignment) -> Assignment:
    left = {topic_id: held - other.get(topic_id, frozenset()) for topic_id, held in one.items()}
    return {topic_id: held for topic_id, held in left.items() if held}


def _overlap(owned: Assignment | None, revoking: Assignment) -> bool:
    """Whether the member still has what it should give up; if it does not say, it has."""
    return owned is None or bool(_both(owned, revoking))
