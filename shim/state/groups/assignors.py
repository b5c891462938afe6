"""Who reads which partitions: the server-side assignors of KIP-848, `uniform` and `range`.

Pure functions of the members' subscriptions, what they have now, and the sizes of the topics.
"""

import heapq
from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

Assignment = dict[bytes, frozenset[int]]
"""Partitions by topic id; no topic without any."""


class Subscriber(msgspec.Struct, frozen=True):
    """A member as an assignor sees it: the topics it wants and the partitions it was given last."""

    member_id: str
    instance_id: str | None
    topic_ids: frozenset[bytes]
    current: Mapping[bytes, frozenset[int]]


Assignor = Callable[[list[Subscriber], Mapping[bytes, int]], dict[str, Assignment]]


def assign_uniform(
    members: list[Subscriber], partition_counts: Mapping[bytes, int]
) -> dict[str, Assignment]:
    """As even as subscriptions allow, and nobody loses a partition that it may keep.

    Every partition of a wanted topic is given to exactly one of those who want it.
    """
    balance = _Balance(members, partition_counts)
    balance.keep()
    balance.spread()
    while balance.move_one():
        pass
    return balance.assigned()


def assign_range(
    members: list[Subscriber], partition_counts: Mapping[bytes, int]
) -> dict[str, Assignment]:
    """Topic by topic, a run of partitions for each; the first members get one more.

    The order is that of instance ids, then member ids, so that equal topics are cut alike.
    """
    given: dict[str, Assignment] = {member.member_id: {} for member in members}
    in_order = sorted(
        members,
        key=lambda member: (member.instance_id is None, member.instance_id, member.member_id),
    )
    wanting = takers_of(in_order)
    for topic_id, count in partition_counts.items():
        takers = wanting.get(topic_id, [])
        start = 0
        for place, member in enumerate(takers[:count]):
            size = count // len(takers) + (place < count % len(takers))
            given[member.member_id][topic_id] = frozenset(range(start, start + size))
            start += size
    return given


def assign_simple(
    members: list[Subscriber], partitions: Sequence[tuple[bytes, int]]
) -> dict[str, Assignment]:
    """For share groups: everybody gets something, and partitions can have several members.

    Each topic goes round those who want it; with more members than partitions, partitions go
    round the members. DEVIATION: in the order of joining; Kafka's depends on the topic's id.
    """
    given: dict[str, set[tuple[bytes, int]]] = {member.member_id: set() for member in members}
    wanting = takers_of(members)
    by_topic: dict[bytes, list[tuple[bytes, int]]] = {}
    for partition in partitions:
        by_topic.setdefault(partition[0], []).append(partition)
    for topic_id, held in by_topic.items():
        takers = wanting.get(topic_id, [])
        for turn in range(max(len(takers), len(held)) if takers else 0):
            taker = takers[turn % len(takers)]
            given[taker.member_id].add(held[turn % len(held)])
    return {member_id: _by_topic(held) for member_id, held in given.items()}


class _Balance:
    """An assignment on the way; members are known by their places.

    Those that want the same topics are in one heap, by what they were given: so the one with the
    least is found without looking at all. Entries that are out of date are dropped when they come
    to the top.
    """

    def __init__(self, members: list[Subscriber], partition_counts: Mapping[bytes, int]) -> None:
        self._members = members
        self._given: list[dict[bytes, list[int]]] = [{} for _ in members]
        self._loads = [0] * len(members)
        by_wish: dict[frozenset[bytes], int] = {}
        self._kinds = [by_wish.setdefault(member.topic_ids, len(by_wish)) for member in members]
        self._least_of: list[list[tuple[int, int]]] = [[] for _ in by_wish]
        self._fewest: list[tuple[int, int]] = []
        self._most: list[tuple[int, int]] = []
        self._kinds_wanting: dict[bytes, list[int]] = {}
        for topic_ids, kind in by_wish.items():
            for topic_id in topic_ids:
                self._kinds_wanting.setdefault(topic_id, []).append(kind)
        self._free = {
            topic_id: set(range(count))
            for topic_id, count in partition_counts.items()
            if topic_id in self._kinds_wanting
        }

    def keep(self) -> None:
        """Leave to each what it has and still wants."""
        for place, member in enumerate(self._members):
            for topic_id, held in member.current.items():
                if topic_id in member.topic_ids and topic_id in self._free:
                    kept = self._free[topic_id] & held
                    self._free[topic_id] -= kept
                    self._loads[place] += len(kept)
                    if kept:
                        self._given[place][topic_id] = sorted(kept)
            self._changed(place)

    def spread(self) -> None:
        """Give the rest to those who have the least; first what few want, since those who want
        everything can fill up later.
        """
        sizes = [len(heap) for heap in self._least_of]
        wanted_by = {
            topic_id: sum(sizes[kind] for kind in self._kinds_wanting[topic_id])
            for topic_id in self._free
        }
        for topic_id in sorted(self._free, key=lambda topic_id: (wanted_by[topic_id], topic_id)):
            for at in sorted(self._free[topic_id]):
                self._give(self._least(topic_id)[1], topic_id, at)

    def move_one(self) -> bool:
        """Take one partition from a member that has two more than another that wants it."""
        if not self._members:
            return False
        for load, rich in self._richest(self._top(self._fewest)[0] + 1):
            for topic_id in sorted(self._given[rich]):
                poorer, poor = self._least(topic_id)
                if poorer + 1 < load:
                    self._give(poor, topic_id, self._take(rich, topic_id))
                    return True
        return False

    def assigned(self) -> dict[str, Assignment]:
        return {
            member.member_id: {topic_id: frozenset(given[topic_id]) for topic_id in sorted(given)}
            for member, given in zip(self._members, self._given, strict=True)
        }

    def _give(self, place: int, topic_id: bytes, at: int) -> None:
        insort(self._given[place].setdefault(topic_id, []), at)
        self._loads[place] += 1
        self._changed(place)

    def _take(self, place: int, topic_id: bytes) -> int:
        """The last partition of a topic that a member has."""
        held = self._given[place][topic_id]
        at = held.pop()
        if not held:
            del self._given[place][topic_id]
        self._loads[place] -= 1
        self._changed(place)
        return at

    def _changed(self, place: int) -> None:
        load = self._loads[place]
        heapq.heappush(self._least_of[self._kinds[place]], (load, place))
        heapq.heappush(self._fewest, (load, place))
        heapq.heappush(self._most, (-load, place))

    def _least(self, topic_id: bytes) -> tuple[int, int]:
        """Of those who want a topic the first that has the least, behind how much that is."""
        return min(self._top(self._least_of[kind]) for kind in self._kinds_wanting[topic_id])

    def _top(self, heap: list[tuple[int, int]]) -> tuple[int, int]:
        while self._loads[heap[0][1]] != heap[0][0]:
            heapq.heappop(heap)
        return heap[0]

    def _richest(self, least: int) -> Iterator[tuple[int, int]]:
        """Who has more than a number, from who has the most on, behind how much that is."""
        seen: dict[int, int] = {}
        try:
            while self._most and -self._most[0][0] > least:
                load, place = heapq.heappop(self._most)
                if self._loads[place] == -load and place not in seen:
                    seen[place] = load
                    yield -load, place
        finally:
            for place, load in seen.items():
                heapq.heappush(self._most, (load, place))


def takers_of(members: Iterable[Subscriber]) -> dict[bytes, list[Subscriber]]:
    """The members that want each topic, in their order."""
    found: dict[bytes, list[Subscriber]] = {}
    for member in members:
        for topic_id in member.topic_ids:
            found.setdefault(topic_id, []).append(member)
    return found


def _by_topic(partitions: set[tuple[bytes, int]]) -> Assignment:
    found: dict[bytes, set[int]] = {}
    for topic_id, at in sorted(partitions):
        found.setdefault(topic_id, set()).add(at)
    return {topic_id: frozenset(held) for topic_id, held in found.items()}


ASSIGNORS: dict[str, Assignor] = {"uniform": assign_uniform, "range": assign_range}
"""The assignors by the names that members ask for them."""
