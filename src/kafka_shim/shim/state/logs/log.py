"""One partition's record batches, in memory: append, read by offset or time, trim, and wait.

A batch is kept as its producer sent it, with offset and leader epoch filled in; only its header is
parsed. Everything appended counts as replicated: the high watermark is the log end offset.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from operator import attrgetter, itemgetter

import msgspec

from kafka_shim.shim.clock import Clock
from kafka_shim.shim.state.logs.log_segments import LogSegments
from kafka_shim.shim.state.logs.log_settings import EffectiveLogSettings, LogSettings
from kafka_shim.shim.state.logs.partition_producers import PartitionProducers
from kafka_shim.shim.wait import ChangeNotifier

CHECK_INTERVAL_BYTES = 64 << 20
"""Appended bytes between two checks of retention; not a setting of Kafka, which uses disks."""

_NO_BATCHES: "list[StoredBatch]" = []
_NO_SEGMENTS = LogSegments()
_FIRST_EPOCHS = [(0, 0)]
"""Those of all logs that were never filled, which keeps the collector's work small; these lists
are replaced, never changed.
"""

_LAST_OFFSET = attrgetter("last_offset")
_END_POSITION = attrgetter("end_position")
_NEWEST = attrgetter("max_timestamp_so_far")
_MAX_TIMESTAMP = attrgetter("max_timestamp")


class StoredBatch(msgspec.Struct, gc=False):
    """One batch of records, with the offsets of its first and last record.

    `position` is the number of bytes appended before it, `end_position` includes it.
    `max_timestamp_so_far` is the greatest timestamp in the log up to its end, in ms. `is_clean`:
    the log cleaner has processed it.
    """

    base_offset: int
    last_offset: int
    max_timestamp: int
    payload: bytes
    position: int = 0
    end_position: int = 0
    max_timestamp_so_far: int = -1
    is_clean: bool = False


class _SparseOffsetIndex:
    """Kafka's offset index of the batches of a log; it grows when it is searched."""

    __slots__ = (
        "_bytes_since",
        "_count",
        "_first",
        "_interval_bytes",
        "_last_offsets",
        "_positions",
    )

    def __init__(self, batches: list[StoredBatch], interval_bytes: int) -> None:
        self._first = batches[0]
        self._interval_bytes = interval_bytes
        self._count = 0
        self._bytes_since = 0
        self._positions: list[int] = []
        self._last_offsets: list[int] = []

    def is_index_of(self, batches: list[StoredBatch], interval_bytes: int) -> bool:
        """Return whether the index begins with these batches and has this interval."""
        return self._first is batches[0] and self._interval_bytes == interval_bytes

    def add_new_batches(self, batches: list[StoredBatch]) -> None:
        """Add the entries of batches that were appended since the last call."""
        for at in range(self._count, len(batches)):
            batch = batches[at]
            if self._bytes_since > self._interval_bytes:
                self._positions.append(batch.position)
                self._last_offsets.append(batch.last_offset)
                self._bytes_since = 0
            self._bytes_since += batch.end_position - batch.position
        self._count = len(batches)

    def first_indexed_offset_from(self, byte_position: int) -> int | None:
        """Return the last offset of the first entry at or after a position; None if there is none.

        The very first entry must be further away.
        """
        at = bisect_left(self._positions, byte_position)
        if at == 0 and self._positions and self._positions[0] == byte_position:
            at = 1
        return self._last_offsets[at] if at < len(self._last_offsets) else None


class PartitionLog(ChangeNotifier):
    """The batches of one partition, oldest first.

    Watchers are called after every append, after trimming and when the log is closed.
    """

    __slots__ = (
        "_batches",
        "_checked_position",
        "_clock",
        "_end_position",
        "_epochs",
        "_in_force",
        "_offset_index",
        "_segments",
        "_trimmed_newest",
        "_when_filled",
        "end_offset",
        "is_closed",
        "producers",
        "start_offset",
    )

    def __init__(
        self,
        settings: EffectiveLogSettings,
        clock: Clock,
        on_first_content: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_first_content` is called when a batch or a producer is added to the empty log."""
        super().__init__()
        self._when_filled = on_first_content
        self._in_force = settings
        self._clock = clock
        self._batches = _NO_BATCHES
        self._end_position = 0
        self._epochs = _FIRST_EPOCHS  # leader epochs and their first offsets
        self._checked_position = 0
        self.producers = PartitionProducers()
        self.start_offset = 0
        self.end_offset = 0
        self.is_closed = False
        self._segments = _NO_SEGMENTS
        self._offset_index: _SparseOffsetIndex | None = None
        self._trimmed_newest: StoredBatch | None = None

    @property
    def settings(self) -> LogSettings:
        """The settings that apply now."""
        return self._in_force.current_settings()

    @property
    def high_watermark(self) -> int:
        """The log end offset, since everything appended counts as replicated."""
        return self.end_offset

    @property
    def last_stable_offset(self) -> int:
        """First offset of the oldest open transaction, the limit for read_committed."""
        first = self.producers.first_unstable_offset
        return self.end_offset if first is None else first

    @property
    def size_bytes(self) -> int:
        """Size of the batches in the log."""
        return self._end_position - self._batches[0].position if self._batches else 0

    @property
    def disk_bytes(self) -> int:
        """Size of a real broker's files, which may still contain deleted records."""
        return max(self.size_bytes, self._segments.total_size_bytes)

    @property
    def batches(self) -> list[StoredBatch]:
        """The batches, oldest first; callers must not change the list."""
        return self._batches

    def begin_leader_epoch(self, leader_epoch: int) -> None:
        """Begin a leader epoch at the log end; it replaces earlier ones without records."""
        kept = [epoch for epoch in self._epochs if epoch[1] < self.end_offset]
        self._epochs = [*kept, (leader_epoch, self.end_offset)]

    def append_batch(self, batch: StoredBatch, leader_epoch: int) -> None:
        """Append a batch whose offsets begin at the log end, and wake watchers."""
        assert batch.base_offset == self.end_offset
        assert not self.is_closed
        if leader_epoch > self._epochs[-1][0]:
            self._epochs = [*self._epochs, (leader_epoch, batch.base_offset)]
        if not self._batches:
            self._when_filled()
        self._add_batch(batch)
        self.end_offset = batch.last_offset + 1
        if self._end_position - self._checked_position >= CHECK_INTERVAL_BYTES:
            self._checked_position = self._end_position
            self.delete_expired_segments()
        if self._watchers:
            self.notify()

    def note_unverified_batch(
        self, producer_id_and_epoch: tuple[int, int], first_sequence: int, *, begins_at_zero: bool
    ) -> None:
        """Call `PartitionProducers.tried`; the entry expires later."""
        now_ms = self._clock.now_ms()
        self.producers.note_unverified_batch(
            producer_id_and_epoch, first_sequence, now_ms, begins_at_zero=begins_at_zero
        )
        self._when_filled()

    def read_batches(
        self, offset: int, end: int, bytes_max: int, *, whole_first: bool
    ) -> list[bytes]:
        """Return batches from the one that contains `offset` up to `end`, at most `bytes_max`
        bytes.

        `whole_first`: return the first one even if it is larger (KIP-74).
        """
        first, beyond, _ = self._batch_indexes_within(
            offset, end, bytes_max, whole_first=whole_first
        )
        return [batch.payload for batch in self._batches[first:beyond]]

    def read_with_partial_batch(
        self, offset: int, end: int, bytes_max: int, *, whole_first: bool
    ) -> list[bytes | memoryview]:
        """Return what `read` does, and what fits of the next batch, unless it is the first."""
        if offset >= end:
            return []
        first, beyond, rest = self._batch_indexes_within(
            offset, end, bytes_max, whole_first=whole_first
        )
        found: list[bytes | memoryview] = [row.payload for row in self._batches[first:beyond]]
        if found and rest > 0:
            found.append(memoryview(self._batches[beyond].payload)[:rest])
        return found

    def _batch_indexes_within(
        self, offset: int, end: int, bytes_max: int, *, whole_first: bool
    ) -> tuple[int, int, int]:
        """Return the indexes of the first batch and after the last one that fits, and how many
        bytes of the next one do.
        """
        assert offset >= self.start_offset
        batches = self._batches
        first = bisect_left(batches, offset, key=_LAST_OFFSET)
        stop = self._batch_count_below(end)
        if first >= stop:
            return first, first, 0
        limit = batches[first].position + bytes_max
        fitting = bisect_right(batches, limit, first, stop, key=_END_POSITION)
        if fitting == first and whole_first:
            fitting += 1
        return first, fitting, limit - batches[fitting].position if fitting < stop else 0

    def offset_index_entry(self, offset: int, bytes_after: int) -> int:
        """Return the offset of the first entry in Kafka's offset index that is at least
        `bytes_after` bytes after the start of the batch with `offset`; the log end if there is
        none. The very first entry must be further away, since Kafka's search misses an exact match.
        """
        position = self._batches[bisect_left(self._batches, offset, key=_LAST_OFFSET)].position
        interval_bytes = self.settings.index_interval_bytes
        index = self._offset_index
        if index is None or not index.is_index_of(self._batches, interval_bytes):
            index = self._offset_index = _SparseOffsetIndex(self._batches, interval_bytes)
        index.add_new_batches(self._batches)
        found = index.first_indexed_offset_from(position + bytes_after)
        return self.end_offset if found is None else found

    def bytes_between(self, offset: int, end: int) -> int:
        """Return the size in bytes of the batches from `offset` up to `end`."""
        if offset >= end:
            return 0
        first = bisect_left(self._batches, offset, key=_LAST_OFFSET)
        stop = self._batch_count_below(end)
        if first >= stop:
            return 0
        return self._batches[stop - 1].end_position - self._batches[first].position

    def advance_log_start(self, offset: int) -> None:
        """Move the log start offset; records below `offset` are deleted (KIP-107)."""
        assert self.start_offset <= offset <= self.end_offset
        self.start_offset = offset
        del self._batches[: bisect_left(self._batches, offset, key=_LAST_OFFSET)]
        self._drop_epochs_before(offset)
        self.producers.drop_aborted_below(offset)

    def _drop_epochs_before(self, offset: int) -> None:
        """Drop older epochs; the first one then begins at the log start,
        as in Kafka's epoch cache.
        """
        at = bisect_right(self._epochs, offset, key=itemgetter(1)) - 1
        if at > 0:
            self._epochs = [(self._epochs[at][0], offset), *self._epochs[at + 1 :]]

    def delete_records_before(self, offset: int) -> None:
        """Delete records below `offset`, which a real broker's files keep until retention."""
        newest = self.first_max_timestamp_batch()
        self.advance_log_start(offset)
        if newest is not None and newest.last_offset < offset:
            self._trimmed_newest = newest

    def batches_with_timestamp_from(self, timestamp: int) -> Iterator[StoredBatch]:
        """Return the batches whose header has a maximum timestamp (ms) of at least `timestamp`.

        The header of a batch without records keeps the maximum of its former records.
        """
        at = bisect_left(self._batches, timestamp, key=_NEWEST)
        return (batch for batch in self._batches[at:] if batch.max_timestamp >= timestamp)

    def first_max_timestamp_batch(self) -> StoredBatch | None:
        """Return the first batch with the greatest timestamp, including trimmed ones (KIP-734)."""
        held = self._first_remaining_with_max_timestamp()
        trimmed = self._trimmed_newest
        if trimmed is None or (held is not None and held.max_timestamp > trimmed.max_timestamp):
            return held
        return trimmed

    def _first_remaining_with_max_timestamp(self) -> StoredBatch | None:
        batches = self._batches
        if not batches:
            return None
        newest = batches[-1].max_timestamp_so_far
        first = batches[bisect_left(batches, newest, key=_NEWEST)]
        if first.max_timestamp == newest:
            return first
        return max(batches, key=_MAX_TIMESTAMP)  # the newest one was deleted

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """Return the greatest leader epoch up to `epoch` and its end offset (KIP-101, KIP-279).

        (-1, -1) for a future epoch; one before the first ends at the log start.
        """
        if epoch == -1 or epoch > self._epochs[-1][0]:
            return -1, -1
        at = bisect_right(self._epochs, epoch, key=itemgetter(0))
        if at == len(self._epochs):
            return self._epochs[-1][0], self.end_offset
        if at == 0:
            return epoch, self._epochs[0][1]
        return self._epochs[at - 1][0], self._epochs[at][1]

    def leader_epoch_at_offset(self, offset: int) -> int:
        """Return the leader epoch in which the record at `offset` was, or will be, written."""
        at = bisect_right(self._epochs, offset, key=itemgetter(1))
        return self._epochs[max(0, at - 1)][0]

    def delete_expired_segments(self) -> None:
        """Delete segments beyond retention.ms and retention.bytes."""
        now_ms = self._clock.now_ms()
        start = self._segments.drop_expired_segments(
            self.start_offset, self.end_offset, self.settings, now_ms
        )
        if start > self.start_offset:
            self.advance_log_start(start)
        trimmed = self._trimmed_newest
        if trimmed is not None and trimmed.last_offset < self._segments.oldest_segment_offset(
            start
        ):
            self._trimmed_newest = None

    def replace_cleaned_batches(self, replaced_count: int, batches: list[StoredBatch]) -> None:
        """Replace the first `count` batches by the log cleaner's result.

        Offsets may then have gaps; the log start and end stay.
        """
        rest = self._batches[replaced_count:]
        self._batches = _NO_BATCHES
        self._segments = _NO_SEGMENTS
        self._offset_index = None
        self._end_position = 0
        for batch in (*batches, *rest):
            self._add_batch(batch)
        self._checked_position = min(self._checked_position, self._end_position)

    def close_deleted(self) -> None:
        """Close the log of a deleted partition: drop its records and wake watchers."""
        self.is_closed = True
        self._batches.clear()
        self.notify()
        self._watchers.clear()

    def _add_batch(self, batch: StoredBatch) -> None:
        batches, position = self._batches, self._end_position
        if batches:
            newest = batches[-1].max_timestamp_so_far
        else:
            batches = self._batches = []
            newest = -1
        own = batch.max_timestamp
        batch.max_timestamp_so_far = newest if newest > own else own  # noqa: FURB136 - a call takes longer
        batch.position = position
        size = len(batch.payload)
        batch.end_position = self._end_position = position + size
        batches.append(batch)
        settings = self._in_force.last_read or self._in_force.current_settings()
        if self._segments is _NO_SEGMENTS:
            self._segments = LogSegments()
        self._segments.add_batch_to_segment(batch.base_offset, size, own, settings, self._clock)

    def _batch_count_below(self, end_offset: int) -> int:
        """Return the index after the last batch that is wholly below `end`."""
        if end_offset >= self.end_offset:
            return len(self._batches)
        return bisect_right(self._batches, end_offset - 1, key=_LAST_OFFSET)
