"""The assignor `uniform` of KIP-848: as even as possible, and members keep partitions if possible.

If all members subscribe to the same topics, each keeps up to its share, and the rest goes to
members with less. Otherwise partitions are assigned, then moved, topic by topic.
"""

import struct
from collections.abc import Mapping
from typing import Final

from kafka_shim.shim.state.groups.assignors import (
    NOTHING,
    MemberPartitions,
    OrderedAssignment,
    Subscriber,
)
from kafka_shim.shim.state.java_collections import copied_hash_set, uuid_hash

_ROUNDS: Final = 16
"""How often all topics are balanced at most."""


def assign_uniform(
    members: list[Subscriber],
    partition_counts: Mapping[bytes, int],
    *,
    all_subscribe_alike: bool,
    uniform_keeps_surplus_with_owner: bool = True,
) -> dict[str, OrderedAssignment]:
    """Assign every partition of a subscribed topic to one of its subscribers.

    `all_subscribe_alike`: all members subscribe to the same names.
    `uniform_keeps_surplus_with_owner`: see the release fact of this name.
    """
    if not any(member.topic_ids for member in members):
        return {member.member_id: NOTHING for member in members}
    if all_subscribe_alike:
        holdings = _assign_with_equal_subscriptions(
            members,
            partition_counts,
            uniform_keeps_surplus_with_owner=uniform_keeps_surplus_with_owner,
        )
    else:
        holdings = _assign_with_different_subscriptions(members, partition_counts)
    return {
        member.member_id: holding.as_ordered_assignment()
        for member, holding in zip(members, holdings, strict=True)
    }


def _assign_with_equal_subscriptions(
    members: list[Subscriber],
    partition_counts: Mapping[bytes, int],
    *,
    uniform_keeps_surplus_with_owner: bool,
) -> list[MemberPartitions]:
    topic_ids = [topic_id for topic_id in partition_counts if topic_id in members[0].topic_ids]
    wanted = copied_hash_set(topic_ids, uuid_hash)
    taken: dict[bytes, set[int]] = {topic_id: set() for topic_id in wanted}
    for member in members:
        for topic_id, partitions in member.current_assignment.items():
            if topic_id in taken:
                taken[topic_id].update(partitions)
    free = [
        (topic_id, at)
        for topic_id in wanted
        for at in range(partition_counts[topic_id])
        if at not in taken[topic_id]
    ]
    share, extra = divmod(sum(partition_counts[topic_id] for topic_id in wanted), len(members))
    holdings, unfilled = [], []
    for place, member in enumerate(members):
        holding = MemberPartitions(member.current_assignment)
        holdings.append(holding)
        has_extra = extra > 0
        room = _retain_partitions(holding, taken, share + has_extra, free)
        if uniform_keeps_surplus_with_owner and room and has_extra and len(members) - place > extra:
            room, has_extra = room - 1, False
        extra -= has_extra
        if room:
            unfilled.append((holding, room))
    rest = iter(free)
    for holding, room in unfilled:
        holding.copy_before_write()
        for _, (topic_id, at) in zip(range(room), rest, strict=False):
            holding.add_partition(topic_id, at)
    return holdings


def _retain_partitions(
    holding: MemberPartitions,
    wanted: Mapping[bytes, set[int]],
    quota: int,
    free: list[tuple[bytes, int]],
) -> int:
    """Let a member keep partitions up to its quota; return the quota that is left."""
    for topic_id, partitions in holding.partitions_by_topic():
        if topic_id not in wanted:
            holding.drop_topic(topic_id)
            continue
        for at in partitions[quota:]:
            holding.remove_partition(topic_id, at)
            free.append((topic_id, at))
        quota -= min(quota, len(partitions))
    return quota


def _assign_with_different_subscriptions(
    members: list[Subscriber], partition_counts: Mapping[bytes, int]
) -> list[MemberPartitions]:
    balance = _BalancedAssignment(members, partition_counts)
    balance.retain_current_partitions()
    balance.assign_remaining_partitions()
    balance.balance_all_topics()
    return balance.holdings


class _BalancedAssignment:
    """An assignment in progress; members are identified by their indexes."""

    def __init__(self, members: list[Subscriber], partition_counts: Mapping[bytes, int]) -> None:
        self.holdings = [MemberPartitions(member.current_assignment) for member in members]
        self._members = members
        self._loads = [0] * len(members)
        self._takers: dict[bytes, list[int]] = {}
        for place, member in enumerate(members):
            for topic_id in member.topic_ids:
                self._takers.setdefault(topic_id, []).append(place)
        self._owners = {
            topic_id: [-1] * partition_counts[topic_id]
            for topic_id in sorted(
                self._takers, key=lambda topic: self._topic_sort_key(topic, partition_counts)
            )
        }

    def _topic_sort_key(
        self, topic_id: bytes, partition_counts: Mapping[bytes, int]
    ) -> tuple[float, int, tuple[int, ...]]:
        """Return a sort key: topics with the most partitions per member first, then with few
        members.
        """
        takers = len(self._takers[topic_id])
        return -(partition_counts[topic_id] / takers), takers, struct.unpack(">qq", topic_id)

    def retain_current_partitions(self) -> None:
        """Let each member keep its partitions of subscribed topics."""
        for place, (member, holding) in enumerate(zip(self._members, self.holdings, strict=True)):
            for topic_id, partitions in holding.partitions_by_topic():
                if topic_id not in member.topic_ids:
                    holding.drop_topic(topic_id)
                    continue
                self._loads[place] += len(partitions)
                for at in partitions:
                    self._owners[topic_id][at] = place

    def assign_remaining_partitions(self) -> None:
        """Give the remaining partitions, topic by topic, to the members with the fewest."""
        for topic_id, owners in self._owners.items():
            free = [at for at, owner in enumerate(owners) if owner < 0]
            levels = _SubscribersByLoad(self._takers[topic_id], self._loads)
            for at in free:
                self._assign_partition_to_member(topic_id, at, levels.next_least_loaded())

    def balance_all_topics(self) -> None:
        """Move partitions, topic by topic, until a whole round has moved none."""
        topic_ids = [topic_id for topic_id in self._owners if len(self._takers[topic_id]) > 1]
        last = -1  # the topic of which something was moved last
        for _ in range(_ROUNDS):
            for place, topic_id in enumerate(topic_ids):
                if place == last:
                    return
                if self._balance_topic(topic_id) or last < 0:
                    last = place

    def _balance_topic(self, topic_id: bytes) -> bool:
        """Move partitions of a topic from those with the most to those with the least."""
        levels = _SubscribersByLoad(self._takers[topic_id], self._loads)
        if levels.are_loads_balanced:
            return False
        left: dict[int, list[int]] = {}
        for at, owner in enumerate(self._owners[topic_id]):
            left.setdefault(owner, []).append(at)
        moved = False
        while True:
            while (rich := levels.next_most_loaded()) is not None and not left.get(rich):
                levels.exclude_last_most_loaded()
            if rich is None:
                break
            at, poor = left[rich].pop(), levels.next_least_loaded()
            if levels.are_levels_equal:
                break
            self._assign_partition_to_member(topic_id, at, poor)
            moved = True
        return moved

    def _assign_partition_to_member(
        self, topic_id: bytes, partition: int, member_index: int
    ) -> None:
        owners = self._owners[topic_id]
        if owners[partition] >= 0:
            self.holdings[owners[partition]].remove_partition(topic_id, partition)
            self._loads[owners[partition]] -= 1
        takers = len(self._takers[topic_id])
        room = int(-(-len(owners) // takers) / 0.75 + 1)
        self.holdings[member_index].add_partition(topic_id, partition, room)
        owners[partition] = member_index
        self._loads[member_index] += 1


class _SubscribersByLoad:
    """The takers of a topic by their loads, which change meanwhile: two levels that move towards
    each other. Takers of the lower one get partitions in turn, those of the upper one lose them.
    """

    def __init__(self, takers: list[int], loads: list[int]) -> None:
        self._loads = loads
        self._takers = sorted(takers, key=lambda place: loads[place])
        self._low, self._high = loads[self._takers[0]] - 1, loads[self._takers[-1]] + 1
        self._low_end = self._low_next = 0
        self._high_start = self._high_end = len(takers)
        self._high_next = len(takers) - 1

    @property
    def are_loads_balanced(self) -> bool:
        """Return whether the assignment is already balanced; called first."""
        return self._high - self._low <= 3

    @property
    def are_levels_equal(self) -> bool:
        return self._high - self._low <= 1

    def next_least_loaded(self) -> int:
        """Return the next member to get a partition."""
        if self._low_next >= self._low_end:
            self._low += 1
            while (
                self._low_end < len(self._takers)
                and self._load_of_member(self._low_end) == self._low
            ):
                self._low_end += 1
            self._low_next = 0
        self._low_next += 1
        return self._takers[self._low_next - 1]

    def next_most_loaded(self) -> int | None:
        """Return the next member to lose a partition; None if there is none."""
        if self._high_next < self._high_start:
            if self._high_start > 0 and self._high_end <= self._high_start:
                self._high = self._load_of_member(self._high_start - 1)
            else:
                self._high -= 1
            while self._high_start and self._load_of_member(self._high_start - 1) == self._high:
                self._high_start -= 1
            self._high_next = self._high_end - 1
        if self._high_next < 0:
            return None
        self._high_next -= 1
        return self._takers[self._high_next + 1]

    def exclude_last_most_loaded(self) -> None:
        """Exclude the member returned last, which has no partition to lose, by swapping it to the
        end.
        """
        place, last = self._high_next + 1, self._high_end - 1
        takers = self._takers
        takers[place], takers[last] = takers[last], takers[place]
        self._high_end = last

    def _load_of_member(self, member_index: int) -> int:
        return self._loads[self._takers[member_index]]
