"""Committed offsets of all groups, and pending ones of transactions.

The key has the topic id, so that offsets of a deleted topic do not count for a new topic of its
name.
"""

from collections.abc import Callable, Collection, Iterable, Iterator

import msgspec

from kafka_shim.shim.clock import Clock

NO_OFFSET = -1
NO_EPOCH = -1
_BY_NAME = bytes(17)
"""Longer than any topic id."""


def missing_partition_topic_id(topic_name: str) -> bytes:
    """Return an id for offsets of partitions that the topic does not have (up to 1.1).

    Deleting a topic deletes the offsets of its partitions, but not these.
    """
    return _BY_NAME + topic_name.encode()


def topic_name_of_missing_partition(topic_id: bytes) -> str | None:
    """Return the name in a stray id; None for the id of a topic."""
    return topic_id[len(_BY_NAME) :].decode() if topic_id.startswith(_BY_NAME) else None


class CommittedOffset(msgspec.Struct, frozen=True, gc=False):
    """A committed offset of a partition; `leader_epoch` is -1 if the member sent none."""

    offset: int
    leader_epoch: int = NO_EPOCH
    metadata: str = ""
    order: int = 0  # place in the sequence of all commits: the later of two counts
    committed_ms: int = 0


TopicOffsets = dict[int, CommittedOffset]
"""Offsets of a topic by partition."""


class _GroupOffsets:
    """The offsets of one group; `pending` by producer id, then by topic id and partition."""

    __slots__ = ("committed", "pending")

    def __init__(self) -> None:
        self.committed: dict[bytes, TopicOffsets] = {}
        self.pending: dict[int, dict[tuple[bytes, int], CommittedOffset]] = {}

    def has_offsets_of_topic(self, topic_id: bytes) -> bool:
        return topic_id in self.committed or any(
            key[0] == topic_id for held in self.pending.values() for key in held
        )


class Offsets:
    """Offsets by group, topic id and partition. A group without any leaves no trace."""

    def __init__(self, clock: Clock, *, keeps_transactions: bool = False) -> None:
        self._clock = clock
        self._keeps_transactions = keeps_transactions
        """A transaction counts as an offset until it ends, even if its offsets were deleted."""
        self._groups: dict[str, _GroupOffsets] = {}
        self._groups_by_producer: dict[int, dict[str, None]] = {}
        """Ids of groups in which the transaction of a producer may have pending offsets."""
        self._groups_by_topic: dict[bytes, dict[str, None]] = {}
        """Ids of groups that may have committed or pending offsets of a topic."""
        self._order = 0
        self.when_changed: Callable[[str, bytes, int], None] = lambda *_: None
        """Called with a group, a topic id and a partition whose offset changed."""
        self.when_held: Callable[[str, int], None] = lambda *_: None
        """Called with a group and a producer whose transaction's offsets changed."""

    def store_offset(
        self, group_id: str, topic_id: bytes, partition: int, offset: CommittedOffset
    ) -> CommittedOffset:
        """Store an offset, and return it with its time."""
        group = self._groups.get(group_id)
        if group is None:
            group = self._groups[group_id] = _GroupOffsets()
        ordered = self._with_commit_order(offset, self._clock.now_ms())
        offsets = group.committed.get(topic_id)
        if offsets is None:
            offsets = group.committed[topic_id] = {}
            self._groups_by_topic.setdefault(topic_id, {})[group_id] = None
        offsets[partition] = ordered
        self.when_changed(group_id, topic_id, partition)
        return ordered

    def store_pending_offsets(
        self,
        group_id: str,
        producer_id: int,
        offsets: Iterable[tuple[bytes, int, CommittedOffset]],
    ) -> None:
        """Commit as part of a producer's transaction: it counts once that is committed.

        Each is a topic id, a partition and its offset.
        """
        group = self._groups.setdefault(group_id, _GroupOffsets())
        held = group.pending.setdefault(producer_id, {})
        self._groups_by_producer.setdefault(producer_id, {})[group_id] = None
        now_ms = self._clock.now_ms()
        for topic_id, partition, offset in offsets:
            held[topic_id, partition] = self._with_commit_order(offset, now_ms)
            self._groups_by_topic.setdefault(topic_id, {})[group_id] = None
        self.when_held(group_id, producer_id)

    def drop_pending_offsets(
        self, group_id: str, producer_id: int, partitions: Collection[tuple[bytes, int]]
    ) -> None:
        """Drop pending offsets of a producer's transaction."""
        group = self._groups.get(group_id)
        if group is not None and producer_id in group.pending:
            for partition in partitions:
                group.pending[producer_id].pop(partition, None)
            self.when_held(group_id, producer_id)
            self._prune_group_entries(group)
            self._forget_unused_topics(group_id, (topic_id for topic_id, _ in partitions))
            self._drop_empty_group(group_id)

    def settle_pending_offsets(self, producer_id: int, *, committed: bool) -> None:
        """Commit the pending offsets of an ended transaction, unless newer ones were committed."""
        for group_id in self._groups_by_producer.pop(producer_id, ()):
            group = self._groups.get(group_id)
            if group is None:
                continue
            pending = group.pending.pop(producer_id, {})
            if pending:
                self.when_held(group_id, producer_id)
            for (topic_id, partition), offset in pending.items() if committed else ():
                topic = group.committed.setdefault(topic_id, {})
                current = topic.get(partition)
                if current is None or current.order < offset.order:
                    topic[partition] = offset
                    self.when_changed(group_id, topic_id, partition)
            self._forget_unused_topics(group_id, (topic_id for topic_id, _ in pending))
            self._drop_empty_group(group_id)

    def committed_offset(
        self, group_id: str, topic_id: bytes, partition: int
    ) -> CommittedOffset | None:
        """Return the committed offset of a partition; None if there is none."""
        group = self._groups.get(group_id)
        return None if group is None else group.committed.get(topic_id, {}).get(partition)

    def offsets_by_topic(self, group_id: str) -> Iterator[tuple[bytes, TopicOffsets]]:
        """Return topic ids with the offsets of their partitions, in the
        order of the first commit.
        """
        group = self._groups.get(group_id)
        if group is not None:
            yield from group.committed.items()

    def has_pending_offset(self, group_id: str, topic_id: bytes, partition: int) -> bool:
        """Return whether a transaction that is still open would change this offset (KIP-447)."""
        group = self._groups.get(group_id)
        return group is not None and any(
            (topic_id, partition) in held for held in group.pending.values()
        )

    def partition_has_offset(
        self, group_id: str, topic_id: bytes, partition: int, *, or_pending: bool
    ) -> bool:
        """Return whether a partition has a committed offset, or a pending one."""
        if self.committed_offset(group_id, topic_id, partition) is not None:
            return True
        return or_pending and self.has_pending_offset(group_id, topic_id, partition)

    def partitions_with_offset(
        self, group_id: str, topic_ids: Collection[bytes] | None = None, *, with_pending: bool
    ) -> Iterator[tuple[bytes, int]]:
        """Yield topic ids and partitions with an offset, perhaps also a pending one; of some
        topics, or of all. One may come twice.
        """
        group = self._groups.get(group_id)
        if group is None:
            return
        for topic_id in group.committed if topic_ids is None else topic_ids:
            for partition in group.committed.get(topic_id, ()):
                yield topic_id, partition
        for held in group.pending.values() if with_pending else ():
            for topic_id, partition in held:
                if topic_ids is None or topic_id in topic_ids:
                    yield topic_id, partition

    def group_has_offsets(self, group_id: str) -> bool:
        return group_id in self._groups

    def delete_offset(self, group_id: str, topic_id: bytes, partition: int) -> None:
        """Delete an offset, committed or pending, if it exists."""
        group = self._groups.get(group_id)
        if group is None:
            return
        committed = group.committed.get(topic_id, {})
        if committed.pop(partition, None) is not None:
            self.when_changed(group_id, topic_id, partition)
        if not committed:  # a look at all topics would be quadratic in an OffsetDelete
            group.committed.pop(topic_id, None)
        for producer_id, pending in list(group.pending.items()):
            if pending.pop((topic_id, partition), None) is not None:
                self.when_held(group_id, producer_id)
            if not pending and not self._keeps_transactions:
                del group.pending[producer_id]
        self._forget_unused_topics(group_id, [topic_id])
        if not group.committed and not group.pending:
            del self._groups[group_id]

    def delete_offsets_of_group(self, group_id: str) -> None:
        group = self._groups.pop(group_id, None)
        self._notify_group_changed(group_id, group)
        if group is not None:
            pending = [key[0] for held in group.pending.values() for key in held]
            self._forget_unused_topics(group_id, [*group.committed, *pending])

    def delete_offsets_of_topic(self, topic_id: bytes) -> None:
        for group_id in self._groups_by_topic.pop(topic_id, ()):
            group = self._groups.get(group_id)
            if group is None:
                continue
            self._notify_group_changed(group_id, group)
            group.committed.pop(topic_id, None)
            for held in group.pending.values():
                for key in [key for key in held if key[0] == topic_id]:
                    del held[key]
            if not self._keeps_transactions:
                self._prune_group_entries(group)
            self._drop_empty_group(group_id)

    def _forget_unused_topics(self, group_id: str, topic_ids: Iterable[bytes]) -> None:
        """Forget that a group has offsets of topics, if it has none of them any more."""
        group = self._groups.get(group_id)
        for topic_id in topic_ids:
            groups = self._groups_by_topic.get(topic_id)
            if groups is None or (group is not None and group.has_offsets_of_topic(topic_id)):
                continue
            groups.pop(group_id, None)
            if not groups:
                del self._groups_by_topic[topic_id]

    def topic_ids(self) -> list[bytes]:
        """Return the ids of all topics that may have a committed or pending offset."""
        return list(self._groups_by_topic)

    def group_ids_with_offsets_of_topics(self, topic_ids: Iterable[bytes]) -> dict[str, None]:
        """Return the ids of the groups with a committed or pending offset of any of the topics."""
        return {
            group_id: None
            for topic_id in topic_ids
            for group_id in self._groups_by_topic.get(topic_id, ())
        }

    def _with_commit_order(self, offset: CommittedOffset, now_ms: int) -> CommittedOffset:
        self._order = order = self._order + 1
        return CommittedOffset(offset.offset, offset.leader_epoch, offset.metadata, order, now_ms)

    def pending_offsets_of_producer(
        self, group_id: str, producer_id: int
    ) -> dict[tuple[bytes, int], CommittedOffset]:
        """Return a group's pending offsets of a producer's transaction."""
        group = self._groups.get(group_id)
        return {} if group is None else group.pending.get(producer_id, {})

    def restore_offsets(
        self,
        group_id: str,
        offsets: Iterable[tuple[bytes, int, CommittedOffset]],
        producer_id: int | None = None,
    ) -> None:
        """Have offsets as they were, with their times; held back for a producer if one is named."""
        group = self._groups.setdefault(group_id, _GroupOffsets())
        for topic_id, partition, offset in offsets:
            self._groups_by_topic.setdefault(topic_id, {})[group_id] = None
            self._order = max(self._order, offset.order)
            if producer_id is None:
                group.committed.setdefault(topic_id, {})[partition] = offset
            else:
                group.pending.setdefault(producer_id, {})[topic_id, partition] = offset
                self._groups_by_producer.setdefault(producer_id, {})[group_id] = None

    def _notify_group_changed(self, group_id: str, group: _GroupOffsets | None) -> None:
        """All that a group has changes."""
        if group is None:
            return
        for topic_id, offsets in group.committed.items():
            for partition in offsets:
                self.when_changed(group_id, topic_id, partition)
        for producer_id in group.pending:
            self.when_held(group_id, producer_id)

    def _prune_group_entries(self, group: _GroupOffsets) -> None:
        for topic_id in [topic_id for topic_id, held in group.committed.items() if not held]:
            del group.committed[topic_id]
        for producer_id in [producer_id for producer_id, held in group.pending.items() if not held]:
            del group.pending[producer_id]

    def _drop_empty_group(self, group_id: str) -> None:
        group = self._groups[group_id]
        if not group.committed and not group.pending:
            del self._groups[group_id]
