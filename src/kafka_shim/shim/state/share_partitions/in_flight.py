"""Records that a share group has acquired and that are not yet final (KIP-932).

They stay in the batches in which they were acquired first. A batch has one state until a part of
it changes.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from enum import IntEnum

import msgspec


class RecordState(IntEnum):
    """Delivery states of a record; the values are those on the wire."""

    AVAILABLE = 0
    ACQUIRED = 1
    ACKNOWLEDGED = 2
    ARCHIVED = 4

    @property
    def is_final(self) -> bool:
        return self in (RecordState.ACKNOWLEDGED, RecordState.ARCHIVED)


def wrap_delivery_count_to_int16(count: int) -> int:
    """Return a number of deliveries as 16 bits, as brokers send and store it: after 32767 comes
    -32768.
    """
    return (count + (1 << 15)) % (1 << 16) - (1 << 15)


class InFlightState(msgspec.Struct):
    """The state of a record, or of all records of a batch; the lock ends at `locked_until_ms`."""

    state: RecordState
    delivery_count: int  # deliveries
    member_id: str = ""
    locked_until_ms: float = 0

    def acquire_for_member(self, member_id: str, locked_until_ms: float) -> None:
        """Lock it for a member and count the delivery."""
        self.state = RecordState.ACQUIRED
        self.delivery_count += 1
        self.member_id = member_id
        self.locked_until_ms = locked_until_ms

    def end_lock(self, new_state: RecordState, delivery_count_max: int) -> None:
        """End the lock with a new state; ARCHIVED instead of AVAILABLE after `delivery_count_max`
        deliveries.
        """
        wears_out = new_state is RecordState.AVAILABLE and self.delivery_count >= delivery_count_max
        self.state = RecordState.ARCHIVED if wears_out else new_state
        self.member_id = ""

    def is_acquired_by(self, member_id: str) -> bool:
        return self.state is RecordState.ACQUIRED and self.member_id == member_id


class SameStateRecords(msgspec.Struct, frozen=True):
    """Records `first` to `last`, which share one state."""

    first_offset: int
    last_offset: int
    in_flight_state: InFlightState

    @property
    def record_count(self) -> int:
        return self.last_offset - self.first_offset + 1


class InFlightBatch:
    """Adjacent records; `common_state` is None once each record has its own state."""

    __slots__ = ("_record_states", "common_state", "first_offset", "last_offset")

    def __init__(self, first_offset: int, last_offset: int, common_state: InFlightState) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.common_state: InFlightState | None = common_state
        self._record_states: list[InFlightState] = []

    @property
    def record_count(self) -> int:
        return self.last_offset - self.first_offset + 1

    def split_into_records(self) -> None:
        """Give every record its own state."""
        if self.common_state is not None:
            self._record_states = [
                msgspec.structs.replace(self.common_state) for _ in range(self.record_count)
            ]
            self.common_state = None

    def acknowledgeable_ranges(
        self, first_offset: int | None = None, last_offset: int | None = None
    ) -> Iterator[SameStateRecords]:
        """Yield the whole batch, or, if it is split, its records between the two offsets."""
        if self.common_state is not None:
            yield SameStateRecords(self.first_offset, self.last_offset, self.common_state)
            return
        begin = self.first_offset if first_offset is None else max(first_offset, self.first_offset)
        end = self.last_offset if last_offset is None else min(last_offset, self.last_offset)
        for offset in range(begin, end + 1):
            yield SameStateRecords(offset, offset, self._record_states[offset - self.first_offset])

    def is_within_offsets(self, first_offset: int, last_offset: int) -> bool:
        return first_offset <= self.first_offset and self.last_offset <= last_offset


class InFlightBatches:
    """The batches of one share partition, by their first offsets."""

    def __init__(self) -> None:
        self._by_first: dict[int, InFlightBatch] = {}
        self._firsts: list[int] = []

    def __bool__(self) -> bool:
        return bool(self._firsts)

    def __iter__(self) -> Iterator[InFlightBatch]:
        return (self._by_first[first] for first in self._firsts)

    @property
    def oldest_batch(self) -> InFlightBatch:
        return self._by_first[self._firsts[0]]

    @property
    def newest_batch(self) -> InFlightBatch:
        return self._by_first[self._firsts[-1]]

    def put_batch(self, batch: InFlightBatch) -> None:
        """Add a batch, replacing one with the same first offset."""
        if batch.first_offset not in self._by_first:
            insort(self._firsts, batch.first_offset)
        self._by_first[batch.first_offset] = batch

    def last_batch_starting_by(self, offset: int) -> InFlightBatch | None:
        """Return the last batch whose first offset is at most `offset`."""
        at = bisect_right(self._firsts, offset)
        return self._by_first[self._firsts[at - 1]] if at else None

    def batches_starting_between(self, first_offset: int, last_offset: int) -> list[InFlightBatch]:
        """Return the batches whose first offset is between `first` and `last`."""
        begin, end = (
            bisect_left(self._firsts, first_offset),
            bisect_right(self._firsts, last_offset),
        )
        return [self._by_first[at] for at in self._firsts[begin:end]]

    def drop_batches_starting_before(self, offset: int) -> None:
        """Drop the batches whose first offset is below `offset`."""
        end = bisect_left(self._firsts, offset)
        for first in self._firsts[:end]:
            del self._by_first[first]
        del self._firsts[:end]

    def archive_records_in_state(
        self, first_offset: int, last_offset: int, state: RecordState
    ) -> list[SameStateRecords]:
        """Archive the records from `first` to `last` that are in `state`; return them."""
        begin = self.last_batch_starting_by(first_offset)
        archived = []
        for batch in self.batches_starting_between(
            first_offset if begin is None else begin.first_offset, last_offset
        ):
            if batch.common_state is not None and batch.common_state.state is not state:
                continue
            if not batch.is_within_offsets(first_offset, last_offset):
                batch.split_into_records()
            pieces = [
                piece
                for piece in batch.acknowledgeable_ranges(first_offset, last_offset)
                if piece.in_flight_state.state is state
            ]
            for piece in pieces:
                piece.in_flight_state.state, piece.in_flight_state.member_id = (
                    RecordState.ARCHIVED,
                    "",
                )
            archived += pieces
        return archived
