"""Acquisition of fetched records by a member of a share group (KIP-932, KIP-1206).

Whole batches of the log are acquired, unless the member sets a strict limit of records. Records
that were delivered often are acquired in ever smaller parts, and at last one by one, so that a bad
record does not use up the deliveries of its neighbours.
"""

from collections.abc import Iterable, Sequence

import msgspec

from kafka_shim.protocol.records.batches import Batch
from kafka_shim.shim.state.share_partitions.in_flight import (
    InFlightBatch,
    InFlightState,
    RecordState,
    SameStateRecords,
)
from kafka_shim.shim.state.share_partitions.share_partition import SharePartition

THROTTLED_FROM = 2
"""Records with fewer deliveries than this are never throttled."""

ACQUIRED_MAX = 10_000
"""DEVIATION: records of a batch that are acquired together. Each may need its own state later; real
brokers acquire any batch as a whole.
"""

OffsetRange = tuple[int, int]
"""First and last offset."""


class AcquiredRange(msgspec.Struct, frozen=True):
    """Records `first` to `last`; `count` deliveries include this one."""

    first_offset: int
    last_offset: int
    delivery_count: int

    @property
    def record_count(self) -> int:
        return self.last_offset - self.first_offset + 1


class AcquireRequest(msgspec.Struct, frozen=True):
    """The acquiring member and its limits; `records_per_batch` is the batch size.

    `records_max_is_strict`: it is a strict limit, even within a batch.
    """

    member_id: str
    records_max: int
    records_per_batch: int
    records_max_is_strict: bool = False
    throttles_often_delivered: bool = True


def acquire_records(
    partition: SharePartition,
    request: AcquireRequest,
    fetch_offset: int,
    batches: Sequence[Batch],
    aborted_ranges: Sequence[OffsetRange],
) -> list[AcquiredRange]:
    """Acquire records found from `fetch_offset` on for a member, except aborted ones."""
    if not batches or batches[-1].last_offset < partition.start_offset:
        return []
    last = batches[-1].last_offset
    acquirable_count = min(request.records_max, partition.acquirable_record_count)
    if acquirable_count <= 0:  # only released records can be acquired
        last = min(last, partition.end_offset)
        acquirable_count = min(request.records_max, last - fetch_offset + 1)
    if acquirable_count <= 0:
        return []
    _archive_records_missing_in_log(partition, fetch_offset, batches[0].base_offset)
    acquired = _RecordAcquisition(
        partition, request, batches, last, acquirable_count
    ).acquire_from_batches()
    return _archive_aborted_records(partition, acquired, aborted_ranges)


def _archive_records_missing_in_log(
    partition: SharePartition, fetch_offset: int, first_log_offset: int
) -> None:
    """Archive records that are no longer in the log."""
    if fetch_offset < first_log_offset:
        archived = partition.batches.archive_records_in_state(
            fetch_offset, first_log_offset - 1, RecordState.AVAILABLE
        )
        partition.finished_count += sum(piece.record_count for piece in archived)
        partition.may_have_released_records = partition.may_have_released_records or bool(archived)


class _RecordAcquisition:
    """The acquisition from one read of the log."""

    def __init__(
        self,
        partition: SharePartition,
        request: AcquireRequest,
        batches: Sequence[Batch],
        last_offset: int,
        acquirable_count: int,
    ) -> None:
        self._partition = partition
        self._request = request
        self._log_batches = batches
        self._first_offset = batches[0].base_offset
        self._last_offset = last_offset
        self._acquirable_count = acquirable_count
        self._acquired: list[AcquiredRange] = []
        self._acquired_count = 0
        limit = partition.delivery_count_max
        self._throttle_from = max(THROTTLED_FROM, -(-limit // 2))

    def acquire_from_batches(self) -> list[AcquiredRange]:
        batches = self._partition.batches
        begin = self._first_offset
        known = batches.last_batch_starting_by(begin)
        if known is None:
            begin = max(begin, self._partition.start_offset)
        elif known.last_offset >= begin:
            begin = known.first_offset
        in_flight = batches.batches_starting_between(
            min(self._first_offset, begin), self._last_offset
        )
        if not in_flight:
            self._acquire_new_records(begin)
            return self._acquired
        for batch in in_flight:
            if self._acquired_count >= self._acquirable_count or not self._acquire_available(batch):
                break
        if (
            self._acquired_count < self._acquirable_count
            and in_flight[-1].last_offset < self._last_offset
        ):
            self._acquire_new_records(in_flight[-1].last_offset + 1)
        return self._acquired

    # records in flight

    def _acquire_available(self, batch: InFlightBatch) -> bool:
        """Acquire a batch's available records; return False if no other batch may follow."""
        throttles = self._request.throttles_often_delivered and self._was_delivered_often(batch)
        if throttles and self._acquired_count:
            self._acquirable_count = 0
            return False
        if batch.common_state is not None:
            if batch.common_state.state is not RecordState.AVAILABLE:
                return True
            too_many = (
                self._request.records_max_is_strict
                and batch.record_count > self._acquirable_count - self._acquired_count
            )
            if (
                batch.is_within_offsets(self._first_offset, self._last_offset)
                and not throttles
                and not too_many
            ):
                self._partition.lock_records(batch.common_state, self._request.member_id)
                self._add_acquired_range(
                    AcquiredRange(
                        batch.first_offset, batch.last_offset, batch.common_state.delivery_count
                    )
                )
                return True
            batch.split_into_records()
        some = self._records_to_acquire_singly(batch)
        for piece in some:
            self._partition.lock_records(piece.in_flight_state, self._request.member_id)
        for acquired in _join_by_delivery_count(some):
            self._add_acquired_range(acquired)
        if throttles and some:
            self._acquirable_count = 0
            return False
        return True

    def _was_delivered_often(self, batch: InFlightBatch) -> bool:
        counts = (piece.in_flight_state.delivery_count for piece in self._available_records(batch))
        return max(counts, default=0) >= self._throttle_from

    def _available_records(self, batch: InFlightBatch) -> Iterable[SameStateRecords]:
        for piece in batch.acknowledgeable_ranges(self._first_offset, self._last_offset):
            if piece.in_flight_state.state is RecordState.AVAILABLE:
                yield piece

    def _records_to_acquire_singly(self, batch: InFlightBatch) -> list[SameStateRecords]:
        """Return the records to acquire one by one: fewer the more often they were delivered."""
        limit = self._partition.delivery_count_max
        throttles = self._request.throttles_often_delivered
        at_most: int | None = (
            self._acquirable_count - self._acquired_count
            if self._request.records_max_is_strict
            else None
        )
        some: list[SameStateRecords] = []
        is_halved = False
        for piece in self._available_records(batch):
            count = piece.in_flight_state.delivery_count
            is_last_time = throttles and limit > THROTTLED_FROM and count == limit - 1
            if is_last_time and some:
                break
            if throttles and count >= self._throttle_from and not is_halved:
                is_halved = True
                part = max(1, batch.record_count >> (count - self._throttle_from + 1))
                at_most = part if at_most is None else min(at_most, part)
            some.append(piece)
            if is_last_time or len(some) == at_most:
                break
        return some

    # records never delivered before

    def _acquire_new_records(self, first_offset: int) -> None:
        partition, acquirable_count = self._partition, self._acquirable_count - self._acquired_count
        if not partition.batches and partition.end_offset > first_offset:
            first_offset = partition.end_offset
        last = self._last_offset
        if acquirable_count < last - first_offset + 1:
            last = min(
                self._last_offset_of_log_batch(first_offset + acquirable_count - 1),
                first_offset + ACQUIRED_MAX - 1,
            )
        is_strict = self._request.records_max_is_strict
        for begin, end in (
            [(first_offset, last)] if is_strict else self._split_at_batch_ends(first_offset, last)
        ):
            batch = InFlightBatch(begin, end, InFlightState(RecordState.AVAILABLE, 0))
            partition.batches.put_batch(batch)
            last_acquired = min(end, begin + acquirable_count - 1) if is_strict else end
            if last_acquired < end:
                batch.split_into_records()
                partition.may_have_released_records = True
            for piece in batch.acknowledgeable_ranges(begin, last_acquired):
                partition.lock_records(piece.in_flight_state, self._request.member_id)
            self._add_acquired_range(AcquiredRange(begin, last_acquired, 1))
        if partition.batches.oldest_batch.first_offset == first_offset:
            partition.start_offset = first_offset
        partition.end_offset = max(partition.end_offset, last)

    def _last_offset_of_log_batch(self, offset: int) -> int:
        """Return the last offset of the log's batch that contains this offset."""
        for batch in self._log_batches:
            if batch.base_offset <= offset <= batch.last_offset:
                return batch.last_offset
        return offset

    def _split_at_batch_ends(self, first_offset: int, last_offset: int) -> Iterable[OffsetRange]:
        """Yield ranges of at least `batch_size` records that end at ends of the log's batches."""
        size = self._request.records_per_batch
        if last_offset - first_offset + 1 > size:
            for batch in self._log_batches:
                if batch.base_offset > last_offset:
                    break
                if batch.base_offset - first_offset >= size:
                    yield first_offset, batch.base_offset - 1
                    first_offset = batch.base_offset
        yield first_offset, last_offset

    def _add_acquired_range(self, acquired: AcquiredRange) -> None:
        self._acquired.append(acquired)
        self._acquired_count += acquired.record_count


def _join_by_delivery_count(records: Iterable[SameStateRecords]) -> list[AcquiredRange]:
    """Join adjacent records with equal delivery counts."""
    rows: list[AcquiredRange] = []
    for piece in records:
        row = AcquiredRange(
            piece.first_offset, piece.last_offset, piece.in_flight_state.delivery_count
        )
        if rows and (rows[-1].last_offset + 1, rows[-1].delivery_count) == (
            row.first_offset,
            row.delivery_count,
        ):
            rows[-1] = AcquiredRange(rows[-1].first_offset, row.last_offset, row.delivery_count)
        else:
            rows.append(row)
    return rows


def _archive_aborted_records(
    partition: SharePartition,
    acquired: Iterable[AcquiredRange],
    aborted_ranges: Sequence[OffsetRange],
) -> list[AcquiredRange]:
    """Archive aborted records, and return the other acquired ones."""
    rows = list(acquired)
    for first, last in aborted_ranges:
        archived = partition.batches.archive_records_in_state(first, last, RecordState.ACQUIRED)
        partition.finished_count += sum(piece.record_count for piece in archived)
        rows = [part for row in rows for part in _parts_outside_offsets(row, first, last)]
    return rows


def _parts_outside_offsets(
    acquired: AcquiredRange, first_offset: int, last_offset: int
) -> Iterable[AcquiredRange]:
    if acquired.first_offset < first_offset:
        yield AcquiredRange(
            acquired.first_offset,
            min(acquired.last_offset, first_offset - 1),
            acquired.delivery_count,
        )
    if acquired.last_offset > last_offset:
        yield AcquiredRange(
            max(acquired.first_offset, last_offset + 1),
            acquired.last_offset,
            acquired.delivery_count,
        )
