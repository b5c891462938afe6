"""The target's offsets of records: which recorded offset is which offset of the target."""

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import msgspec

from kafka_shim.protocol.codec.message_spec import StructSpec, load_message_spec
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.records.batches import only_batch_or_none
from kafka_shim.protocol.records.complete_batches import complete_batches
from kafka_shim.traces.identities.message_fields import (
    NO_CORRESPONDING_IDS,
    CorrespondingIds,
    paired_rows,
)
from kafka_shim.traces.replay.request_parts import partition_index
from kafka_shim.traces.replay.topology import TopicKey

RESPONSES_WITH_OFFSETS = frozenset({ApiKey.PRODUCE, ApiKey.LIST_OFFSETS, ApiKey.OFFSET_FETCH})
"""Responses that offsets are learned from."""

REQUESTS_WITH_OFFSETS = frozenset(
    {
        ApiKey.FETCH, ApiKey.OFFSET_COMMIT, ApiKey.TXN_OFFSET_COMMIT, ApiKey.DELETE_RECORDS,
        ApiKey.SHARE_FETCH, ApiKey.SHARE_ACKNOWLEDGE,
    }
)  # fmt: skip
"""Requests that offsets are put into."""

COMMITS = frozenset({ApiKey.OFFSET_COMMIT, ApiKey.TXN_OFFSET_COMMIT})
"""Requests whose offsets are compared when they are fetched."""
_COMMITS_KEPT_MAX = 100
"""Of one group and partition: a commit of a transaction that is aborted has no effect."""
_OFFSET_FIELDS_IN_RESPONSES = ("offset", "committed_offset")
_OFFSET_FIELDS_IN_REQUESTS = ("fetch_offset", "committed_offset", "offset")
_TOPIC_NAME_FIELDS = ("name", "topic", "topic_name")

_OFFSETS_OF_GROUP: StructSpec = next(
    field.struct
    for field in load_message_spec("OffsetFetchResponse").top_level_struct.fields
    if field.attribute == "groups" and field.struct is not None
)

TopicPartition = tuple[TopicKey, int]


class WrittenRange(msgspec.Struct, gc=False):
    """Consecutive recorded offsets from `first` up to before `end`; `target` is that of the first.

    Between transactional batches, it includes the markers.
    """

    first: int
    end: int
    target: int
    is_transactional: bool = False

    @property
    def target_end(self) -> int:
        return self.target + self.end - self.first


class PartitionOffsets:
    """The offsets of a partition that the recording wrote, and other pairs of offsets."""

    def __init__(self) -> None:
        self.written: list[WrittenRange] = []
        self._target_ranges: list[tuple[int, int]] = []
        self._pairs: list[tuple[int, int]] = []
        self.is_transactional = False
        self.has_unconfirmed = False
        """Whether records were written without a response, at offsets that nobody knows."""

    def add_written(self, first: int, count: int, target: int, *, is_transactional: bool) -> bool:
        """Add records that both brokers appended; return whether anything was learned."""
        self.is_transactional |= is_transactional
        if self.target_of_written(first) == target and (
            self.target_of_written(first + count - 1) == target + count - 1
        ):
            return False
        new = WrittenRange(first, first + count, target, is_transactional)
        at = bisect_right(self.written, first, key=lambda known: known.first)
        previous = self.written[at - 1] if at else None
        if previous is not None and _continues(previous, new):
            previous.end = new.end
        else:
            self.written.insert(at, new)
        self._add_target_range(target, target + count)
        return True

    def add_pair(self, recorded: int, target: int) -> bool:
        """Add an offset that both brokers returned; return whether anything was learned."""
        pairs = self._pairs
        if pairs and pairs[bisect_right(pairs, (recorded, target)) - 1] == (recorded, target):
            return False
        insort(pairs, (recorded, target))
        distances = {actual - old for old, actual in pairs[-3:]}
        if pairs[-1] == (recorded, target) and len(pairs) >= 3 and len(distances) == 1:
            del pairs[-2]  # the ends of a range determine all of it
        return True

    def target_of_written(self, recorded: int) -> int | None:
        """Return the target's offset of a record; None if the recording did not write it."""
        at = bisect_right(self.written, recorded, key=lambda known: known.first)
        known = self.written[at - 1] if at else None
        if known is None or recorded >= known.end:
            return None
        return known.target + recorded - known.first

    def target_position(self, recorded: int) -> int:
        """Return the target's offset to continue from, for a position in the recorded log.

        That is behind the record before it, so that nothing at the target is passed over.
        """
        following = self.target_of_written(recorded)
        previous = self.target_of_written(recorded - 1) if recorded else None
        if previous is not None:
            return previous + 1 if following is None else min(previous + 1, following)
        if following is not None:
            return following
        return max(0, recorded + self._offset_distance(recorded))

    def is_position_known(self, recorded: int) -> bool:
        """Return whether the recording wrote the record at a position, or the one before it."""
        return any(self.target_of_written(at) is not None for at in (recorded, recorded - 1))

    def contains_target(self, offset: int) -> bool:
        """Return whether the target's record at this offset is one that the recording wrote."""
        at = bisect_right(self._target_ranges, (offset, 1 << 63))
        return bool(at) and offset < self._target_ranges[at - 1][1]

    @property
    def first_target(self) -> int:
        """Return the target's lowest offset of a written record; the caller has checked that
        there is one.
        """
        return self._target_ranges[0][0]

    @property
    def surplus_offset_count(self) -> int:
        """Return how many more offsets the target has between written records."""
        ranges = self.written
        recorded = sum(after.first - before.end for before, after in pairwise(ranges))
        spans = self._target_ranges
        actual = sum(after[0] - before[1] for before, after in pairwise(spans))
        return max(0, actual - max(0, recorded))

    def _offset_distance(self, recorded: int) -> int:
        before = bisect_right(self.written, recorded, key=lambda known: known.first)
        known = [
            (row.end - 1, row.target_end - 1) for row in self.written[max(0, before - 1) : before]
        ]
        at = bisect_right(self._pairs, recorded, key=lambda pair: pair[0])
        known += self._pairs[max(0, at - 1) : at]
        if not known:  # it is before everything that is known
            known = [(row.first, row.target) for row in self.written[:1]] or self._pairs[:1]
        old, actual = max(known, default=(0, 0))
        return actual - old

    def _add_target_range(self, first: int, end: int) -> None:
        ranges = self._target_ranges
        at = bisect_right(ranges, (first, end))
        if at and ranges[at - 1][1] >= first:
            at -= 1
            first, end = ranges[at][0], max(end, ranges[at][1])
            del ranges[at]
        while at < len(ranges) and ranges[at][0] <= end:
            end = max(end, ranges[at][1])
            del ranges[at]
        ranges.insert(at, (first, end))


def _continues(previous: WrittenRange, new: WrittenRange) -> bool:
    """Return whether records follow others, at both brokers, or after one marker of each."""
    gap = new.first - previous.end
    if gap != new.target - previous.target_end:
        return False
    return gap == 0 or (gap == 1 and previous.is_transactional and new.is_transactional)


class OffsetMapping:
    """Maps recorded offsets of partitions to the target's, learned from pairs of responses."""

    def __init__(self) -> None:
        self.partitions: dict[TopicPartition, PartitionOffsets] = {}
        self.commits: dict[tuple[str, TopicKey, int], dict[int, int]] = {}
        """The target's offsets by the recorded ones, of each commit."""
        self.topic_names: dict[bytes, str] = {}
        self.change_count = 0
        """How often something new was learned."""
        self.differs_from_recording = False

    def learn_topic_names(self, metadata: Any) -> None:
        """Learn the names of topic ids from recorded metadata."""
        for topic in metadata.topics:
            self.topic_name(topic)

    def learn_written(
        self, request: Any, recorded: Any, actual: Any, ids: CorrespondingIds = NO_CORRESPONDING_IDS
    ) -> None:
        """Learn the offsets of the records in a Produce request, from both responses to it."""
        counts = dict(self._written_counts(request))
        for topic_partition, recorded_row, actual_row in self._produced_pairs(
            recorded, actual, ids
        ):
            written = counts.get(topic_partition)
            old, new = recorded_row.base_offset, getattr(actual_row, "base_offset", -1)
            if written is None or min(old, new) < 0:
                continue
            count, is_transactional = written
            offsets = self.of(topic_partition)
            self.change_count += offsets.add_written(
                old, count, new, is_transactional=is_transactional
            )
            self.differs_from_recording |= old != new

    def note_unconfirmed(self, request: Any) -> None:
        """Note the partitions of a Produce request that gets no response."""
        for topic_partition, _ in self._written_counts(request):
            self.of(topic_partition).has_unconfirmed = True

    def _produced_pairs(
        self, recorded: Any, actual: Any, ids: CorrespondingIds
    ) -> Iterable[tuple[TopicPartition, Any, Any]]:
        """Return the rows of two Produce responses; mostly each has one."""
        if len(recorded.responses) == len(actual.responses) == 1:
            (old_topic,), (new_topic,) = recorded.responses, actual.responses
            old_rows, new_rows = old_topic.partition_responses, new_topic.partition_responses
            if len(old_rows) == len(new_rows) == 1:
                key = self.topic_name(old_topic), old_rows[0].index
                return [(key, old_rows[0], new_rows[0])]
        return self.pairs(recorded, actual, ids)

    def _written_counts(self, request: Any) -> Iterator[tuple[TopicPartition, tuple[int, bool]]]:
        for topic in request.topic_data:
            name = self.topic_name(topic)
            for row in topic.partition_data:
                count, is_transactional = _count_written(row.records)
                if count:
                    yield (name, row.index), (count, is_transactional)

    def learn(
        self, recorded: Any, actual: Any, ids: CorrespondingIds = NO_CORRESPONDING_IDS
    ) -> None:
        """Learn the offsets from two responses to the same request."""
        for topic_partition, recorded_row, actual_row in self.pairs(recorded, actual, ids):
            for name in _OFFSET_FIELDS_IN_RESPONSES:
                old, new = getattr(recorded_row, name, -1), getattr(actual_row, name, -1)
                if old >= 0 and new >= 0:
                    self.change_count += self.of(topic_partition).add_pair(old, new)
                    self.differs_from_recording |= old != new

    def put_target_offsets(self, request: Any) -> bool:
        """Put the target's offsets into a request, in place; return whether anything changed."""
        changed = False
        group = getattr(request, "group_id", "")
        for topic_partition, row, _ in self.pairs(request, request):
            for batch in getattr(row, "acknowledgement_batches", ()):
                changed |= self._replace_batch_offsets(topic_partition, batch)
            for name in _OFFSET_FIELDS_IN_REQUESTS:
                old = getattr(row, name, -1)
                offsets = self.partitions.get(topic_partition)
                new = old if old < 0 or offsets is None else offsets.target_position(old)
                if group and name == "committed_offset":
                    self._remember_commit((group, *topic_partition), old, new)
                if new != old:
                    setattr(row, name, new)
                    changed = True
        return changed

    def _replace_batch_offsets(self, topic_partition: TopicPartition, batch: Any) -> bool:
        """Put the target's offsets of acknowledged records, if they are consecutive there, too."""
        of = self.of(topic_partition).target_of_written
        first, last = of(batch.first_offset), of(batch.last_offset)
        if first is None or last is None:
            return False
        if last - first != batch.last_offset - batch.first_offset or first == batch.first_offset:
            return False
        batch.first_offset, batch.last_offset = first, last
        return True

    def _remember_commit(self, key: tuple[str, TopicKey, int], recorded: int, target: int) -> None:
        commits = self.commits.setdefault(key, {})
        commits.pop(recorded, None)
        commits[recorded] = target
        if len(commits) > _COMMITS_KEPT_MAX:
            del commits[next(iter(commits))]

    def of(self, topic_partition: TopicPartition) -> PartitionOffsets:
        """Return the offsets of a partition, which are empty at first."""
        return self.partitions.setdefault(topic_partition, PartitionOffsets())

    def pairs(
        self, recorded: Any, actual: Any, ids: CorrespondingIds = NO_CORRESPONDING_IDS
    ) -> Iterator[tuple[TopicPartition, Any, Any]]:
        """Yield the partitions of a recorded message, with the rows of both messages.

        The row of the other message is None if it is missing.
        """
        spec = load_message_spec(type(recorded).__name__).top_level_struct
        yield from self._partition_rows(spec, recorded, actual, "", ids)

    def commit_pairs(
        self, request: Any, recorded: Any, actual: Any, ids: CorrespondingIds
    ) -> Iterator[tuple[str, TopicPartition, Any, Any]]:
        """Yield the group and what `pairs` yields for two responses to OffsetFetch."""
        if not recorded.groups:
            for topic_partition, old, new in self.pairs(recorded, actual, ids):
                yield request.group_id, topic_partition, old, new
        for old_group, new_group in paired_rows(recorded.groups, actual.groups):
            if old_group is None or new_group is None:
                continue
            rows = self._partition_rows(_OFFSETS_OF_GROUP, old_group, new_group, "", ids)
            for topic_partition, old, new in rows:
                yield old_group.group_id, topic_partition, old, new

    def _partition_rows(
        self,
        spec: StructSpec,
        recorded_row: Any,
        actual_row: Any,
        topic: TopicKey,
        ids: CorrespondingIds,
    ) -> Iterator[tuple[TopicPartition, Any, Any]]:
        topic = self.topic_name(recorded_row) or topic
        number = _partition_number(recorded_row)
        if topic and number is not None:
            yield (topic, number), recorded_row, actual_row
            return
        for field in spec.fields:
            if field.struct is None or not field.is_array:
                continue
            recorded_rows = getattr(recorded_row, field.attribute)
            actual_rows = getattr(actual_row, field.attribute, None) or []
            if not recorded_rows or field.attribute == "node_endpoints":
                continue
            for old, new in paired_rows(recorded_rows, actual_rows, ids):
                if old is not None:
                    yield from self._partition_rows(field.struct, old, new, topic, ids)

    def topic_name(self, row: Any) -> TopicKey:
        """Return a topic's name, or its id while the name is unknown; learn the name of the id."""
        if isinstance(row, str):
            return row
        if isinstance(row, bytes):
            return self.topic_names.get(row, row)
        name = next(
            (getattr(row, name) for name in _TOPIC_NAME_FIELDS if getattr(row, name, None)), ""
        )
        topic_id = getattr(row, "topic_id", b"")
        if name and topic_id:
            self.change_count += self.topic_names.get(topic_id) != name
            self.topic_names[topic_id] = name
        return name or self.topic_names.get(topic_id, topic_id)


def _count_written(records: bytes | None) -> tuple[int, bool]:
    """Return the number of records, and whether they belong to a transaction."""
    only = only_batch_or_none(records or b"")
    if only is not None:
        return only.record_count, only.is_transactional
    try:
        batches = list(complete_batches(records))
        count = sum(
            batch.batch.record_count if batch.batch else len(batch.records()) for batch in batches
        )
    except ProtocolError:
        return 0, False
    return count, any(batch.is_transactional for batch in batches)


def _partition_number(row: Any) -> int | None:
    try:
        return partition_index(row)
    except AttributeError:
        return None
