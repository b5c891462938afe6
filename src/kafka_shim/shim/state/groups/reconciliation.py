"""Reconciliation of a member's assignment with its target (KIP-848, KIP-1071).

A member revokes before it is assigned more. It first gets the partitions that it keeps. Once it
owns no others, it moves to the next epoch and gets partitions that others have released.
Assignments are partitions by topic id, or tasks of a streams application by subtopology id,
encoded as bytes.
"""

from collections.abc import Callable, Container, Mapping
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple, Self

import msgspec

from kafka_shim.shim.state.groups.assignors import Assignment

LEAVING = -1
"""Epoch in the heartbeat of a leaving member."""

LEAVING_FOR_A_WHILE = -2
"""Epoch in the heartbeat of a static member that leaves temporarily."""

NEVER: Mapping[tuple[bytes, int], int] = MappingProxyType({})

IsUnowned = Callable[[bytes, int], bool]
"""Returns whether no other member holds a partition."""


class ReconciliationStep(NamedTuple):
    """What a member keeps, has to revoke, and may get."""

    retained: Assignment
    revoking: Assignment
    assignable: Assignment


class ReconciliationState(Enum):
    """States of reconciliation."""

    STABLE = "stable"
    UNREVOKED = "unrevoked partitions"  # has to revoke partitions first
    UNRELEASED = "unreleased partitions"  # waits until others release partitions


class ReconcilingMember(msgspec.Struct):
    """A member's epochs and assignments; subclasses add its subscription.

    A request changes a copy of its member, which then replaces the member in the group: so a group
    can be copied without its members. Mappings of a member are replaced, never changed.
    """

    member_id: str
    instance_id: str | None = None
    rebalance_timeout_ms: int = -1
    epoch: int = 0
    previous_epoch: int = 0
    state: ReconciliationState = ReconciliationState.STABLE
    assigned: Assignment = {}
    assigned_since_epoch: dict[tuple[bytes, int], int] = {}  # epoch, by topic id and partition
    revoking: Assignment = {}
    revoking_since_epoch: dict[tuple[bytes, int], int] = {}  # as `assigned_since_epoch`

    @property
    def uses_classic_protocol(self) -> bool:
        """Return whether it uses the classic protocol in a consumer group."""
        return False

    @property
    def requested_session_timeout_ms(self) -> int | None:
        """The session timeout that it requested, if its protocol has one."""
        return None

    def copy_from_replaced_member(self, replaced_member: Self) -> None:
        """Take the assignment of the static member that it replaces."""
        self.rebalance_timeout_ms = replaced_member.rebalance_timeout_ms
        self.assigned = replaced_member.assigned
        self.assigned_since_epoch = dict(replaced_member.assigned_since_epoch)

    def start_with_assignment(self, epoch: int, assigned: Assignment) -> None:
        """Start in an epoch with its target assigned."""
        self.epoch = self.previous_epoch = epoch
        self._set_assigned(assigned, epoch)

    def is_reconciled(self, target_epoch: int) -> bool:
        return self.state is ReconciliationState.STABLE and self.epoch == target_epoch

    def has_owned_since_epoch(self, epoch: int, topic_id: bytes, partition: int) -> bool:
        """Return whether it holds or is revoking a partition that it had at `epoch`."""
        at = topic_id, partition
        since = self.assigned_since_epoch.get(at, self.revoking_since_epoch.get(at))
        return since is not None and since <= epoch

    def holds(self, topic_id: bytes, partition: int) -> bool:
        """Return whether it holds a partition or has yet to revoke it."""
        return partition in self.assigned.get(topic_id, ()) or partition in self.revoking.get(
            topic_id, ()
        )

    def reconcile_one_step(
        self,
        target_epoch: int,
        target: Assignment,
        owned: Assignment | None,
        is_free_to_take: IsUnowned,
    ) -> None:
        """Take one step towards the target; `owned` are the partitions it reported, if it did."""
        epoch = self.epoch
        if self.state is ReconciliationState.STABLE and epoch == target_epoch:
            return
        if self.state is ReconciliationState.UNREVOKED:
            if may_still_own_revoking(owned, self.revoking):
                return
            epoch += 1
        kept = intersection_of_assignments(self.assigned, target)
        revoking = subtract_assignment(self.assigned, kept)
        missing = subtract_assignment(target, kept)
        free = {
            topic_id: taken
            for topic_id, partitions in missing.items()
            if (taken := frozenset(at for at in partitions if is_free_to_take(topic_id, at)))
        }
        is_all_free = free == missing
        kept, revoking, free = self.convert_task_kinds(
            ReconciliationStep(kept, revoking, free), target, owned
        )
        before = self.assigned_since_epoch
        self._set_assigned(kept, epoch)
        if revoking and may_still_own_revoking(owned, revoking):
            self._advance_epoch(epoch)
            self._set_revoking(revoking, before)
            return
        self._advance_epoch(target_epoch)
        self._set_revoking({})
        self._set_assigned(union_of_assignments(kept, free), target_epoch)
        self.state = ReconciliationState.STABLE if is_all_free else ReconciliationState.UNRELEASED

    def convert_task_kinds(
        self,
        step: "ReconciliationStep",
        target: Assignment,  # noqa: ARG002 - for streams
        owned: Assignment | None,  # noqa: ARG002 - for streams
    ) -> "ReconciliationStep":
        """Return a step in which tasks of streams members change their kind."""
        return step

    def revoke_unsubscribed_topics(
        self, subscribed_topic_ids: Container[bytes], owned: Assignment | None
    ) -> None:
        """Revoke the topics that it no longer subscribes to, regardless of the target."""
        kept = {
            topic_id: held
            for topic_id, held in self.assigned.items()
            if topic_id in subscribed_topic_ids
        }
        revoking = subtract_assignment(self.assigned, kept)
        if not revoking:
            return
        before = self.assigned_since_epoch | self.revoking_since_epoch
        if may_still_own_revoking(owned, self.revoking):
            revoking = union_of_assignments(self.revoking, revoking)
        self._advance_epoch(self.epoch)
        self._set_assigned(kept, self.epoch)
        if may_still_own_revoking(owned, revoking):
            self._set_revoking(revoking, before)

    def _set_revoking(
        self, revoking: Assignment, since: Mapping[tuple[bytes, int], int] = NEVER
    ) -> None:
        """Set the partitions to revoke; `since`: the epochs since which it held them."""
        self.revoking = revoking
        self.revoking_since_epoch = {
            (topic_id, at): since[topic_id, at]
            for topic_id, partitions in revoking.items()
            for at in partitions
        }
        if revoking:
            self.state = ReconciliationState.UNREVOKED

    def _set_assigned(self, assigned: Assignment, epoch: int) -> None:
        before = self.assigned_since_epoch
        self.assigned = assigned
        self.assigned_since_epoch = {
            (topic_id, at): before.get((topic_id, at), epoch)
            for topic_id, partitions in assigned.items()
            for at in partitions
        }

    def _advance_epoch(self, epoch: int) -> None:
        self.previous_epoch = self.epoch
        self.epoch = epoch

    def leave_temporarily(self) -> None:
        """Leave temporarily as a static member, which keeps its assignment."""
        self.epoch = LEAVING_FOR_A_WHILE
        self._set_revoking({})
        self.assigned_since_epoch = dict.fromkeys(self.assigned_since_epoch, 0)


def union_of_assignments(first: Mapping[bytes, frozenset[int]], second: Assignment) -> Assignment:
    topic_ids = [*first, *(topic_id for topic_id in second if topic_id not in first)]
    return {
        topic_id: first.get(topic_id, frozenset()) | second.get(topic_id, frozenset())
        for topic_id in topic_ids
    }


def is_subset_of_assignment(some: Assignment, whole: Assignment) -> bool:
    return all(held <= whole.get(topic_id, frozenset()) for topic_id, held in some.items())


def intersection_of_assignments(first: Assignment, second: Assignment) -> Assignment:
    common = {
        topic_id: held & second.get(topic_id, frozenset()) for topic_id, held in first.items()
    }
    return {topic_id: held for topic_id, held in common.items() if held}


def subtract_assignment(assignment: Assignment, subtracted: Assignment) -> Assignment:
    left = {
        topic_id: held - subtracted.get(topic_id, frozenset())
        for topic_id, held in assignment.items()
    }
    return {topic_id: held for topic_id, held in left.items() if held}


def may_still_own_revoking(owned: Assignment | None, revoking: Assignment) -> bool:
    """Return whether it still owns partitions to revoke; True if it did not report any."""
    return owned is None or bool(intersection_of_assignments(owned, revoking))
