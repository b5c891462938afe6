"""The assignor `simple` of KIP-932 for share groups, where several members can have a partition.

Every partition gets the number of members per partition, rounded up, and every member its share.
Members with too many partitions lose some, then members with too few get more.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Generic

from kafka_shim.shim.state.groups.assignors import (
    NOTHING,
    MemberPartitions,
    OrderedAssignment,
    Subscriber,
)
from kafka_shim.shim.state.java_collections import (
    JavaHashMap,
    JavaHashSet,
    Key,
    initial_capacity_for,
    integer_hash,
    uuid_hash,
)

Partition = tuple[bytes, int]
"""Topic id and number."""

Assignable = Mapping[bytes, Sequence[int]]
"""The partitions that can be given, by topic id; all topics that are there have an entry."""


def assign_simple(
    members: list[Subscriber], assignable: Assignable, *, all_subscribe_alike: bool
) -> dict[str, OrderedAssignment]:
    """Return each member's assignment. `all_subscribe_alike`: all have the same topic names."""
    if not any(member.topic_ids for member in members):
        return {member.member_id: NOTHING for member in members}
    holdings = [MemberPartitions(member.current_assignment) for member in members]
    if all_subscribe_alike:
        _assign_all_topics(members[0].topic_ids, holdings, assignable)
    else:
        topics, takers = JavaHashSet(uuid_hash), dict[bytes, list[int]]()
        for place, member in enumerate(members):
            for topic_id in assignable:
                if topic_id in member.topic_ids:
                    topics.add(topic_id)
                    takers.setdefault(topic_id, []).append(place)
        for topic_id in topics:
            _assign_topic(topic_id, takers[topic_id], holdings, assignable[topic_id])
    return {
        member.member_id: holding.as_ordered_assignment()
        for member, holding in zip(members, holdings, strict=True)
    }


def _assign_all_topics(
    topic_ids: frozenset[bytes], holdings: list[MemberPartitions], assignable: Assignable
) -> None:
    targets = [
        (topic_id, at)
        for topic_id, partitions in assignable.items()
        if topic_id in topic_ids
        for at in partitions
    ]
    everybody = list(range(len(holdings)))
    sharing = _SharedAssignment(everybody, holdings, targets, _partition_hash, lambda key: key)
    unfilled = JavaHashSet(integer_hash, initial_capacity_for(len(holdings)))
    for place, holding in enumerate(holdings):
        for topic_id, held in holding.partitions_by_topic():
            if topic_id not in topic_ids:
                holding.drop_topic(topic_id)
            for at in held if topic_id in topic_ids else ():
                sharing.record_current_partition(place, (topic_id, at))
                if sharing.partition_count_of_member(place) >= sharing.parts[place]:
                    holding.copy_before_write()
        if sharing.partition_count_of_member(place) < sharing.parts[place]:
            unfilled.add(place)
    sharing.revoke_beyond_quota()
    sharing.revoke_overshared_partitions(unfilled)
    sharing.assign_to_unfilled_members(unfilled, 16)


def _assign_topic(
    topic_id: bytes,
    subscribers: list[int],
    holdings: list[MemberPartitions],
    partitions: Sequence[int],
) -> None:
    sharing = _SharedAssignment(
        subscribers, holdings, partitions, integer_hash, lambda at: (topic_id, at)
    )
    for place, holding in enumerate(holdings):
        for at in holding.partitions_of_topic(topic_id):
            sharing.record_current_partition(place, at)
    sharing.revoke_beyond_quota()
    sharing.revoke_overshared_partitions(JavaHashSet(integer_hash))
    unfilled = JavaHashSet(integer_hash, initial_capacity_for(len(holdings)))
    for place in subscribers:
        if sharing.partition_count_of_member(place) < sharing.parts[place]:
            unfilled.add(place)
    sharing.assign_to_unfilled_members(unfilled, initial_capacity_for(len(subscribers)))


class _SharedAssignment(Generic[Key]):
    """The assignment of one topic or of all; members are identified by their positions.

    `targets` are the partitions to assign, each a key that `partition_of` converts to a partition.
    """

    def __init__(
        self,
        subscribers: list[int],
        holdings: list[MemberPartitions],
        targets: Sequence[Key],
        hash_code: Callable[[Key], int],
        partition_of: Callable[[Key], Partition],
    ) -> None:
        self._holdings = holdings
        self._targets = targets
        self._hash_code = hash_code
        self._partition_of = partition_of
        self._by_partition = JavaHashMap[Key, JavaHashSet[int]](
            hash_code, initial_capacity_for(len(targets))
        )
        self._by_member = JavaHashMap[int, JavaHashSet[Key]](
            integer_hash, initial_capacity_for(len(subscribers))
        )
        self._sharing = -(-len(subscribers) // len(targets)) if targets else 0
        self.parts = dict.fromkeys(range(len(holdings)), 0)
        """How many partitions each member should have."""
        each = self._sharing * len(targets) / len(subscribers)
        for turn, place in enumerate(subscribers):
            self.parts[place] = math.ceil(each * (turn + 1)) - math.ceil(each * turn)

    def record_current_partition(self, member_index: int, key: Key) -> None:
        """Record a current partition of a member."""
        self._by_partition.get_or_create(key, lambda: JavaHashSet(integer_hash)).add(member_index)
        self._add_partition_to_member(member_index, key)

    def partition_count_of_member(self, member_index: int) -> int:
        return len(self._by_member.get(member_index) or ())

    def revoke_beyond_quota(self) -> None:
        """Take away what members have beyond their part."""
        for place, keys in self._by_member.items():
            for key in list(keys)[: max(0, len(keys) - self.parts[place])]:
                self._revoke_partition(place, key)
                keys.remove(key)
                self._by_partition[key].remove(place)

    def revoke_overshared_partitions(self, unfilled: JavaHashSet[int]) -> None:
        """Take away partitions that too many members have; these are `unfilled` then."""
        for key, places in self._by_partition.items():
            for place in list(places):
                if len(places) <= self._sharing:
                    break
                if self._revoke_partition(place, key):
                    places.remove(place)
                    self._by_member[place].remove(key)
                    unfilled.add(place)

    def assign_to_unfilled_members(self, unfilled: JavaHashSet[int], set_capacity: int) -> None:
        """Assign partitions in turn to members with too few; `set_capacity`: of new sets."""
        for key in self._targets:
            self._by_partition.get_or_create(key, lambda: JavaHashSet(integer_hash, set_capacity))
        slices = _UnfilledMemberCycle(unfilled)
        for key, places in self._by_partition.items():
            missing = self._sharing - len(places)
            while missing > 0 and (place := slices.next_member()) is not None:
                if place in places:
                    continue
                topic_id, at = self._partition_of(key)
                self._holdings[place].add_partition(topic_id, at)
                self._add_partition_to_member(place, key)
                missing -= 1
                slices.on_partition_assigned(
                    is_full=self.partition_count_of_member(place) >= self.parts[place]
                )
            if not unfilled:
                break

    def _add_partition_to_member(self, member_index: int, key: Key) -> None:
        self._by_member.get_or_create(member_index, lambda: JavaHashSet(self._hash_code)).add(key)

    def _revoke_partition(self, member_index: int, key: Key) -> bool:
        topic_id, at = self._partition_of(key)
        return self._holdings[member_index].remove_partition(topic_id, at, keeps_empty_topic=True)


class _UnfilledMemberCycle:
    """The members below their quota, round after round while any takes a partition."""

    def __init__(self, unfilled: JavaHashSet[int]) -> None:
        self._unfilled = unfilled
        self._round = iter(list(unfilled))
        self._last = -1
        self._gave = False

    def next_member(self) -> int | None:
        """Return the next member to get a partition; None if none took any in a whole round."""
        place = next(self._round, None)
        if place is None and self._gave:
            self._round, self._gave = iter(list(self._unfilled)), False
            place = next(self._round, None)
        if place is not None:
            self._last = place
        return place

    def on_partition_assigned(self, *, is_full: bool) -> None:
        """Record that the current member got a partition."""
        self._gave = True
        if is_full:
            self._unfilled.remove(self._last)


def _partition_hash(partition: Partition) -> int:
    topic_id, at = partition
    return 31 * uuid_hash(topic_id) + at
