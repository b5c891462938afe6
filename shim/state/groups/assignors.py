"""Who reads which partitions: the server-side assignors of KIP-848, `uniform` and `range`.

Pure functions of the members' subscriptions, what they have now, and the sizes of the topics.
"""

from collections.abc import Callable, Mapping, Sequence

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
    given: dict[str, set[tuple[bytes, int]]] = {member.member_id: set() for member in members}
    wanting = {
        topic_id: [member for member in members if topic_id in member.topic_ids]
        for topic_id in partition_counts
    }
    wanted = [topic_id for topic_id in sorted(partition_counts) if wanting[topic_id]]
    free = {(topic_id, at) for topic_id in wanted for at in range(partition_counts[topic_id])}
    for member in members:
        kept = {(topic_id, at) for topic_id, held in member.current.items() for at in held} & free
        kept = {(topic_id, at) for topic_id, at in kept if topic_id in member.topic_ids}
        given[member.member_id] = kept
        free -= kept
    # What few want is given first: those who want everything can fill up later.
    for topic_id, at in sorted(free, key=lambda partition: (len(wanting[partition[0]]), partition)):
        least = min(wanting[topic_id], key=lambda member: len(given[member.member_id]))
        given[least.member_id].add((topic_id, at))
    while _move_one(members, wanting, given):
        pass
    return {member_id: _by_topic(partitions) for member_id, partitions in given.items()}


def _move_one(
    members: list[Subscriber],
    wanting: Mapping[bytes, list[Subscriber]],
    given: dict[str, set[tuple[bytes, int]]],
) -> bool:
    """Take one partition from a member that has two more than another that wants it."""
    for rich in sorted(members, key=lambda member: -len(given[member.member_id])):
        owned = given[rich.member_id]
        for topic_id in sorted({topic_id for topic_id, _ in owned}):
            poor = min(wanting[topic_id], key=lambda member: len(given[member.member_id]))
            if len(given[poor.member_id]) + 1 < len(owned):
                moved = max(partition for partition in owned if partition[0] == topic_id)
                owned.discard(moved)
                given[poor.member_id].add(moved)
                return True
    return False


def assign_range(
    members: list[Subscriber], partition_counts: Mapping[bytes, int]
) -> dict[str, Assignment]:
    """Topic by topic, a run of partitions for each; the first members get one more.

    The order is that of instance ids, then member ids, so that equal topics are cut alike.
    """
    given: dict[str, Assignment] = {member.member_id: {} for member in members}
    for topic_id, count in partition_counts.items():
        takers = sorted(
            (member for member in members if topic_id in member.topic_ids),
            key=lambda member: (member.instance_id is None, member.instance_id, member.member_id),
        )
        start = 0
        for place, member in enumerate(takers):
            size = count // len(takers) + (place < count % len(takers))
            if size:
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
    for topic_id in dict.fromkeys(topic_id for topic_id, _ in partitions):
        takers = [member for member in members if topic_id in member.topic_ids]
        held = [partition for partition in partitions if partition[0] == topic_id]
        for turn in range(max(len(takers), len(held)) if takers else 0):
            taker = takers[turn % len(takers)]
            given[taker.member_id].add(held[turn % len(held)])
    return {member_id: _by_topic(held) for member_id, held in given.items()}


def _by_topic(partitions: set[tuple[bytes, int]]) -> Assignment:
    found: dict[bytes, set[int]] = {}
    for topic_id, at in sorted(partitions):
        found.setdefault(topic_id, set()).add(at)
    return {topic_id: frozenset(held) for topic_id, held in found.items()}


ASSIGNORS: dict[str, Assignor] = {"uniform": assign_uniform, "range": assign_range}
"""The assignors by the names that members ask for them."""
