"""The assignor `simple` of KIP-932 for share groups, where several members can have a partition.

Every partition gets the number of members per partition, rounded up, and every member its share.
Members with too many partitions lose some, then members with too few get more.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Generic

from kafka_shim.shim.state.groups.assignors import NOTHING, Held, Holding, Subscriber
from kafka_shim.shim.state.java_collections import HashMap, HashSet, Key, fitting, uuid_hash

Partition = tuple[bytes, int]
"""Topic id and number."""

Assignable = Mapping[bytes, Sequence[int]]
"""The partitions that can be given, by topic id; all topics that are there have an entry."""


def assign_simple(
    members: list[Subscriber], assignable: Assignable, *, alike: bool
) -> dict[str, Held]:
    """Return the assignment of each member. `alike`: all subscribe to the same names."""
    if not any(member.topic_ids for member in members):
        return {member.member_id: NOTHING for member in members}
    holdings = [Holding(member.current) for member in members]
    if alike:
        _assign_all_topics(members[0].topic_ids, holdings, assignable)
    else:
        topics, takers = HashSet(uuid_hash), dict[bytes, list[int]]()
        for place, member in enumerate(members):
            for topic_id in assignable:
                if topic_id in member.topic_ids:
                    topics.add(topic_id)
                    takers.setdefault(topic_id, []).append(place)
        for topic_id in topics:
            _assign_topic(topic_id, takers[topic_id], holdings, assignable[topic_id])
    return {
        member.member_id: holding.result()
        for member, holding in zip(members, holdings, strict=True)
    }


def _assign_all_topics(
    wanted: frozenset[bytes], holdings: list[Holding], assignable: Assignable
) -> None:
    targets = [
        (topic_id, at)
        for topic_id, partitions in assignable.items()
        if topic_id in wanted
        for at in partitions
    ]
    everybody = list(range(len(holdings)))
    sharing = _Sharing(everybody, holdings, targets, _partition_hash, lambda key: key)
    unfilled = HashSet(_itself, fitting(len(holdings)))
    for place, holding in enumerate(holdings):
        for topic_id, held in holding.topics():
            if topic_id not in wanted:
                holding.drop(topic_id)
            for at in held if topic_id in wanted else ():
                sharing.has(place, (topic_id, at))
                if sharing.count(place) >= sharing.parts[place]:
                    holding.copy()
        if sharing.count(place) < sharing.parts[place]:
            unfilled.add(place)
    sharing.revoke_excess()
    sharing.revoke_shares(unfilled)
    sharing.spread(unfilled, 16)


def _assign_topic(
    topic_id: bytes, takers: list[int], holdings: list[Holding], partitions: Sequence[int]
) -> None:
    sharing = _Sharing(takers, holdings, partitions, _itself, lambda at: (topic_id, at))
    for place, holding in enumerate(holdings):
        for at in holding.of(topic_id):
            sharing.has(place, at)
    sharing.revoke_excess()
    sharing.revoke_shares(HashSet(_itself))
    unfilled = HashSet(_itself, fitting(len(holdings)))
    for place in takers:
        if sharing.count(place) < sharing.parts[place]:
            unfilled.add(place)
    sharing.spread(unfilled, fitting(len(takers)))


class _Sharing(Generic[Key]):
    """The assignment of one topic or of all; members are identified by their positions.

    `targets` are the partitions to assign, each a key that `partition_of` converts to a partition.
    """

    def __init__(
        self,
        takers: list[int],
        holdings: list[Holding],
        targets: Sequence[Key],
        hash_code: Callable[[Key], int],
        partition_of: Callable[[Key], Partition],
    ) -> None:
        self._holdings = holdings
        self._targets = targets
        self._hash_code = hash_code
        self._partition_of = partition_of
        self._by_partition = HashMap[Key, HashSet[int]](hash_code, fitting(len(targets)))
        self._by_member = HashMap[int, HashSet[Key]](_itself, fitting(len(takers)))
        self._sharing = -(-len(takers) // len(targets)) if targets else 0
        self.parts = dict.fromkeys(range(len(holdings)), 0)
        """How many partitions each member should have."""
        each = self._sharing * len(targets) / len(takers)
        for turn, place in enumerate(takers):
            self.parts[place] = math.ceil(each * (turn + 1)) - math.ceil(each * turn)

    def has(self, place: int, key: Key) -> None:
        """Record a current partition of a member."""
        self._by_partition.compute(key, lambda: HashSet(_itself)).add(place)
        self._note(place, key)

    def count(self, place: int) -> int:
        return len(self._by_member.get(place) or ())

    def revoke_excess(self) -> None:
        """Take away what members have beyond their part."""
        for place, keys in self._by_member.items():
            for key in list(keys)[: max(0, len(keys) - self.parts[place])]:
                self._take(place, key)
                keys.remove(key)
                self._by_partition[key].remove(place)

    def revoke_shares(self, unfilled: HashSet[int]) -> None:
        """Take away partitions that too many members have; these are `unfilled` then."""
        for key, places in self._by_partition.items():
            for place in list(places):
                if len(places) <= self._sharing:
                    break
                if self._take(place, key):
                    places.remove(place)
                    self._by_member[place].remove(key)
                    unfilled.add(place)

    def spread(self, unfilled: HashSet[int], room: int) -> None:
        """Assign partitions in turn to members with too few; `room` is the capacity of new sets."""
        for key in self._targets:
            self._by_partition.compute(key, lambda: HashSet(_itself, room))
        slices = _TimeSlices(unfilled)
        for key, places in self._by_partition.items():
            missing = self._sharing - len(places)
            while missing > 0 and (place := slices.following()) is not None:
                if place in places:
                    continue
                topic_id, at = self._partition_of(key)
                self._holdings[place].add(topic_id, at)
                self._note(place, key)
                missing -= 1
                slices.has_given(is_full=self.count(place) >= self.parts[place])
            if not unfilled:
                break

    def _note(self, place: int, key: Key) -> None:
        self._by_member.compute(place, lambda: HashSet(self._hash_code)).add(key)

    def _take(self, place: int, key: Key) -> bool:
        topic_id, at = self._partition_of(key)
        return self._holdings[place].take(topic_id, at, keeps_topic=True)


class _TimeSlices:
    """The members with too little in turn, round after round while anybody takes something."""

    def __init__(self, unfilled: HashSet[int]) -> None:
        self._unfilled = unfilled
        self._round = iter(list(unfilled))
        self._last = -1
        self._gave = False

    def following(self) -> int | None:
        """Return the next member to get a partition; None if none took any in a whole round."""
        place = next(self._round, None)
        if place is None and self._gave:
            self._round, self._gave = iter(list(self._unfilled)), False
            place = next(self._round, None)
        if place is not None:
            self._last = place
        return place

    def has_given(self, *, is_full: bool) -> None:
        """Record that the current member got a partition."""
        self._gave = True
        if is_full:
            self._unfilled.remove(self._last)


def _partition_hash(partition: Partition) -> int:
    topic_id, at = partition
    return 31 * uuid_hash(topic_id) + at


def _itself(number: int) -> int:
    return number
