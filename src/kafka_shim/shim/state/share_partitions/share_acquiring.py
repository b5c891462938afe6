"""Acquisition of fetched records by a member of a share group (KIP-932, KIP-1206).

Whole batches of the log are acquired, unless the member sets a strict limit of records. Records
that were delivered often are acquired in ever smaller parts, and at last one by one, so that a bad
record does not use up the deliveries of its neighbours.
"""

from collections.abc import Iterable, Sequence

import msgspec

from kafka_shim.protocol.records.batches import Batch
from kafka_shim.shim.state.share_partitions.in_flight import (
    InFlight,
    InFlightBatch,
    Piece,
    RecordState,
)
from kafka_shim.shim.state.share_partitions.share_partition import SharePartition

THROTTLED_FROM = 2
"""Records with fewer deliveries than this are never throttled."""

ACQUIRED_MAX = 10_000
"""DEVIATION: records of a batch that are acquired at once. Each may need its own state later; real
brokers acquire any batch as a whole.
"""

Offsets = tuple[int, int]
"""First and last offset."""


class Acquired(msgspec.Struct, frozen=True):
    """Records `first` to `last`; `count` deliveries include this one."""

    first: int
    last: int
    count: int

    @property
    def size(self) -> int:
        return self.last - self.first + 1


class Taking(msgspec.Struct, frozen=True):
    """The acquiring member and its limits; `batch_size` is in records.

    `is_strict`: `records_max` is a strict limit, even within a batch.
    """

    member_id: str
    records_max: int
    batch_size: int
    is_strict: bool = False
    throttles: bool = True


def acquire(
    partition: SharePartition,
    taking: Taking,
    fetch_offset: int,
    batches: Sequence[Batch],
    aborted: Sequence[Offsets],
) -> list[Acquired]:
    """Acquire records found from `fetch_offset` on for a member, except aborted ones."""
    if not batches or batches[-1].last_offset < partition.start_offset:
        return []
    last = batches[-1].last_offset
    room = min(taking.records_max, partition.room)
    if room <= 0:  # only released records can be acquired
        last = min(last, partition.end_offset)
        room = min(taking.records_max, last - fetch_offset + 1)
    if room <= 0:
        return []
    _skip_to(partition, fetch_offset, batches[0].base_offset)
    taken = _Acquisition(partition, taking, batches, last, room).run()
    return _without_aborted(partition, taken, aborted)


def _skip_to(partition: SharePartition, fetch_offset: int, first: int) -> None:
    """Archive records that are no longer in the log."""
    if fetch_offset < first:
        gone = partition.batches.archive(fetch_offset, first - 1, RecordState.AVAILABLE)
        partition.complete += sum(piece.size for piece in gone)
        partition.looks_back = partition.looks_back or bool(gone)


class _Acquisition:
    """The acquisition from one read of the log."""

    def __init__(
        self,
        partition: SharePartition,
        taking: Taking,
        batches: Sequence[Batch],
        last: int,
        room: int,
    ) -> None:
        self._partition = partition
        self._taking = taking
        self._found = batches
        self._first = batches[0].base_offset
        self._last = last
        self._room = room
        self._taken: list[Acquired] = []
        self._count = 0
        limit = partition.delivery_count_max
        self._throttle_from = max(THROTTLED_FROM, -(-limit // 2))

    def run(self) -> list[Acquired]:
        batches = self._partition.batches
        begin = self._first
        known = batches.at_or_before(begin)
        if known is None:
            begin = max(begin, self._partition.start_offset)
        elif known.last >= begin:
            begin = known.first
        held = batches.beginning_in(min(self._first, begin), self._last)
        if not held:
            self._take_new(begin)
            return self._taken
        for batch in held:
            if self._count >= self._room or not self._take_again(batch):
                break
        if self._count < self._room and held[-1].last < self._last:
            self._take_new(held[-1].last + 1)
        return self._taken

    # records in flight

    def _take_again(self, batch: InFlightBatch) -> bool:
        """Acquire a batch's available records; return False if no other batch may follow."""
        throttles = self._taking.throttles and self._is_worn(batch)
        if throttles and self._count:
            self._room = 0
            return False
        if batch.whole is not None:
            if batch.whole.state is not RecordState.AVAILABLE:
                return True
            too_many = self._taking.is_strict and batch.size > self._room - self._count
            if batch.is_within(self._first, self._last) and not throttles and not too_many:
                self._partition.lock(batch.whole, self._taking.member_id)
                self._took(Acquired(batch.first, batch.last, batch.whole.count))
                return True
            batch.split()
        some = self._some_of(batch)
        for piece in some:
            self._partition.lock(piece.held, self._taking.member_id)
        for acquired in _joined(some):
            self._took(acquired)
        if throttles and some:
            self._room = 0
            return False
        return True

    def _is_worn(self, batch: InFlightBatch) -> bool:
        counts = (piece.held.count for piece in self._available(batch))
        return max(counts, default=0) >= self._throttle_from

    def _available(self, batch: InFlightBatch) -> Iterable[Piece]:
        for piece in batch.pieces(self._first, self._last):
            if piece.held.state is RecordState.AVAILABLE:
                yield piece

    def _some_of(self, batch: InFlightBatch) -> list[Piece]:
        """Return the records to acquire one by one: fewer the more often they were delivered."""
        limit = self._partition.delivery_count_max
        throttles = self._taking.throttles
        at_most: int | None = self._room - self._count if self._taking.is_strict else None
        some: list[Piece] = []
        is_halved = False
        for piece in self._available(batch):
            count = piece.held.count
            is_last_time = throttles and limit > THROTTLED_FROM and count == limit - 1
            if is_last_time and some:
                break
            if throttles and count >= self._throttle_from and not is_halved:
                is_halved = True
                part = max(1, batch.size >> (count - self._throttle_from + 1))
                at_most = part if at_most is None else min(at_most, part)
            some.append(piece)
            if is_last_time or len(some) == at_most:
                break
        return some

    # records never delivered before

    def _take_new(self, first: int) -> None:
        partition, room = self._partition, self._room - self._count
        if not partition.batches and partition.end_offset > first:
            first = partition.end_offset
        last = self._last
        if room < last - first + 1:
            last = min(self._end_of_batch(first + room - 1), first + ACQUIRED_MAX - 1)
        is_strict = self._taking.is_strict
        for begin, end in [(first, last)] if is_strict else self._in_batches(first, last):
            batch = InFlightBatch(begin, end, InFlight(RecordState.AVAILABLE, 0))
            partition.batches.put(batch)
            wanted = min(end, begin + room - 1) if is_strict else end
            if wanted < end:
                batch.split()
                partition.looks_back = True
            for piece in batch.pieces(begin, wanted):
                partition.lock(piece.held, self._taking.member_id)
            self._took(Acquired(begin, wanted, 1))
        if partition.batches.oldest.first == first:
            partition.start_offset = first
        partition.end_offset = max(partition.end_offset, last)

    def _end_of_batch(self, offset: int) -> int:
        """Return the last offset of the log's batch that contains this offset."""
        for batch in self._found:
            if batch.base_offset <= offset <= batch.last_offset:
                return batch.last_offset
        return offset

    def _in_batches(self, first: int, last: int) -> Iterable[Offsets]:
        """Yield ranges of at least `batch_size` records that end at ends of the log's batches."""
        size = self._taking.batch_size
        if last - first + 1 > size:
            for batch in self._found:
                if batch.base_offset > last:
                    break
                if batch.base_offset - first >= size:
                    yield first, batch.base_offset - 1
                    first = batch.base_offset
        yield first, last

    def _took(self, acquired: Acquired) -> None:
        self._taken.append(acquired)
        self._count += acquired.size


def _joined(pieces: Iterable[Piece]) -> list[Acquired]:
    """Join adjacent records with equal delivery counts."""
    rows: list[Acquired] = []
    for piece in pieces:
        row = Acquired(piece.first, piece.last, piece.held.count)
        if rows and (rows[-1].last + 1, rows[-1].count) == (row.first, row.count):
            rows[-1] = Acquired(rows[-1].first, row.last, row.count)
        else:
            rows.append(row)
    return rows


def _without_aborted(
    partition: SharePartition, taken: Iterable[Acquired], aborted: Sequence[Offsets]
) -> list[Acquired]:
    """Archive aborted records, and return the other acquired ones."""
    rows = list(taken)
    for first, last in aborted:
        gone = partition.batches.archive(first, last, RecordState.ACQUIRED)
        partition.complete += sum(piece.size for piece in gone)
        rows = [part for row in rows for part in _cut(row, first, last)]
    return rows


def _cut(row: Acquired, first: int, last: int) -> Iterable[Acquired]:
    if row.first < first:
        yield Acquired(row.first, min(row.last, first - 1), row.count)
    if row.last > last:
        yield Acquired(max(row.first, last + 1), row.last, row.count)
