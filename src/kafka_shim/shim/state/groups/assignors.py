"""Server-side assignors: shared code, and the assignor `range`.

They are pure functions of the members' subscriptions, their current partitions and the sizes of the
topics. `uniform_assignor.py` and `share_assignor.py` have the others. Ties are decided as in Kafka,
by the order of Java's hash maps: `python -m tests.oracle.assignors` compares them with Kafka's
classes.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

import msgspec

from kafka_shim.shim.state.java_collections import (
    JavaHashMap,
    JavaHashSet,
    copied_hash_set,
    in_hash_map_order,
    in_timeline_hash_map_order,
    integer_hash,
    uuid_hash,
)

Assignment = dict[bytes, frozenset[int]]
"""Partitions by topic id; only members of share groups may have topics without any."""

OrderedAssignment = Mapping[bytes, Collection[int]]
"""The same in the order of Java's maps and sets, where that matters."""


class Subscriber(msgspec.Struct, frozen=True):
    """A member as an assignor sees it: the topics it wants and the partitions it was given last."""

    member_id: str
    instance_id: str | None
    topic_ids: frozenset[bytes]
    current_assignment: OrderedAssignment


def members_in_java_map_order(
    subscribers: list[Subscriber], newcomer: str | None
) -> list[Subscriber]:
    """Return members in the order of Java's hash map, into which the newcomer is put last."""
    by_id = {subscriber.member_id: subscriber for subscriber in subscribers}
    known = in_timeline_hash_map_order(member_id for member_id in by_id if member_id != newcomer)
    last = [] if newcomer is None else [newcomer]
    return [by_id[member_id] for member_id in in_hash_map_order([*known, *last])]


Assignor = Callable[[list[Subscriber], Mapping[bytes, int]], Mapping[str, OrderedAssignment]]
"""Takes members and the sizes of the topics that they want."""


def assign_range(
    members: list[Subscriber], partition_counts: Mapping[bytes, int]
) -> dict[str, OrderedAssignment]:
    """Assign consecutive partitions of each topic; the first members get one more.

    Members are ordered by instance id, then member id, so that equal topics are divided equally.
    """
    given: dict[str, dict[bytes, range]] = {member.member_id: {} for member in members}
    in_order = sorted(
        members,
        key=lambda member: (member.instance_id is None, member.instance_id, member.member_id),
    )
    wanting = subscribers_by_topic(in_order)
    for topic_id, count in partition_counts.items():
        takers = wanting.get(topic_id, [])
        start = 0
        for place, member in enumerate(takers[:count]):
            size = count // len(takers) + (place < count % len(takers))
            given[member.member_id][topic_id] = range(start, start + size)
            start += size
    return {
        member.member_id: assignment_in_java_map_order(given[member.member_id], member.topic_ids)
        for member in members
    }


def assignment_in_java_map_order(
    assignment: Mapping[bytes, range], topic_ids_for_map_capacity: Collection[bytes]
) -> OrderedAssignment:
    """Return what a member has in the order of a map with room for all that it wants."""
    found = JavaHashMap[bytes, range](uuid_hash, int(len(topic_ids_for_map_capacity) / 0.75 + 1))
    for topic_id, partitions in assignment.items():
        found.put(topic_id, partitions)
    return dict(found.items())


def subscribers_by_topic(members: Iterable[Subscriber]) -> dict[bytes, list[Subscriber]]:
    """Return the members that subscribe to each topic, in their order."""
    found: dict[bytes, list[Subscriber]] = {}
    for member in members:
        for topic_id in member.topic_ids:
            found.setdefault(topic_id, []).append(member)
    return found


class MemberPartitions:
    """The partitions of a member between two assignments.

    A broker reads the last assignment from its log, and copies it before a change. Both determine
    the order in which Java iterates over it.
    """

    def __init__(self, current: OrderedAssignment) -> None:
        self._held = _in_log_replay_order(current)
        self._is_copy = False

    def __contains__(self, topic_id: bytes) -> bool:
        return topic_id in self._held

    def partitions_by_topic(self) -> list[tuple[bytes, list[int]]]:
        return [(topic_id, list(partitions)) for topic_id, partitions in self._held.items()]

    def partitions_of_topic(self, topic_id: bytes) -> list[int]:
        return list(self._held.get(topic_id) or ())

    def copy_before_write(self) -> None:
        """Copy it, unless that was done before."""
        if self._is_copy:
            return
        found = JavaHashMap[bytes, JavaHashSet[int]](uuid_hash, len(self._held))
        for topic_id, partitions in self._held.items():
            found.put(topic_id, copied_hash_set(list(partitions), integer_hash))
        self._held, self._is_copy = found, True

    def add_partition(self, topic_id: bytes, partition: int, set_capacity: int = 16) -> None:
        """Add a partition; `set_capacity` is the capacity of a new set of a topic's partitions."""
        self.copy_before_write()
        self._held.get_or_create(topic_id, lambda: JavaHashSet(integer_hash, set_capacity)).add(
            partition
        )

    def remove_partition(
        self, topic_id: bytes, partition: int, *, keeps_empty_topic: bool = False
    ) -> bool:
        """Remove a partition; return whether it existed. The topic may be removed with its last
        one.
        """
        self.copy_before_write()
        partitions = self._held.get(topic_id)
        if partitions is None or partition not in partitions:
            return False
        partitions.remove(partition)
        if not partitions and not keeps_empty_topic:
            self._held.remove(topic_id)
        return True

    def drop_topic(self, topic_id: bytes) -> None:
        self.copy_before_write()
        self._held.remove(topic_id)

    def as_ordered_assignment(self) -> OrderedAssignment:
        return dict(self.partitions_by_topic())


def _in_log_replay_order(current: OrderedAssignment) -> JavaHashMap[bytes, JavaHashSet[int]]:
    found = JavaHashMap[bytes, JavaHashSet[int]](uuid_hash)
    for topic_id, partitions in current.items():
        found.put(topic_id, copied_hash_set(partitions, integer_hash))
    return found


NOTHING: Final[OrderedAssignment] = {}
