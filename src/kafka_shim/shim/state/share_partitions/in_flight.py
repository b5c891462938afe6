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


def wire_count(count: int) -> int:
    """Return a number of deliveries as 16 bits, as brokers send and store it: after 32767 comes
    -32768.
    """
    return (count + (1 << 15)) % (1 << 16) - (1 << 15)


class InFlight(msgspec.Struct):
    """The state of a record, or of all records of a batch; the lock ends at `locked_until_ms`."""

    state: RecordState
    count: int  # deliveries
    member_id: str = ""
    locked_until_ms: float = 0

    def acquire(self, member_id: str, locked_until_ms: float) -> None:
        """Lock it for a member and count the delivery."""
        self.state = RecordState.ACQUIRED
        self.count += 1
        self.member_id = member_id
        self.locked_until_ms = locked_until_ms

    def give_up(self, state: RecordState, count_max: int) -> None:
        """End the lock with a new state; ARCHIVED instead of AVAILABLE after `count_max`
        deliveries.
        """
        wears_out = state is RecordState.AVAILABLE and self.count >= count_max
        self.state = RecordState.ARCHIVED if wears_out else state
        self.member_id = ""

    def is_held_by(self, member_id: str) -> bool:
        return self.state is RecordState.ACQUIRED and self.member_id == member_id


class Piece(msgspec.Struct, frozen=True):
    """Records `first` to `last`, which share one state."""

    first: int
    last: int
    held: InFlight

    @property
    def size(self) -> int:
        return self.last - self.first + 1


class InFlightBatch:
    """Records `first` to `last`; `whole` is None once each record has its own state."""

    __slots__ = ("_records", "first", "last", "whole")

    def __init__(self, first: int, last: int, whole: InFlight) -> None:
        self.first = first
        self.last = last
        self.whole: InFlight | None = whole
        self._records: list[InFlight] = []

    @property
    def size(self) -> int:
        return self.last - self.first + 1

    def split(self) -> None:
        """Give every record its own state."""
        if self.whole is not None:
            self._records = [msgspec.structs.replace(self.whole) for _ in range(self.size)]
            self.whole = None

    def pieces(self, first: int | None = None, last: int | None = None) -> Iterator[Piece]:
        """Yield the whole batch, or, if it is split, its records between the two offsets."""
        if self.whole is not None:
            yield Piece(self.first, self.last, self.whole)
            return
        begin = self.first if first is None else max(first, self.first)
        end = self.last if last is None else min(last, self.last)
        for offset in range(begin, end + 1):
            yield Piece(offset, offset, self._records[offset - self.first])

    def is_within(self, first: int, last: int) -> bool:
        return first <= self.first and self.last <= last


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
    def oldest(self) -> InFlightBatch:
        return self._by_first[self._firsts[0]]

    @property
    def newest(self) -> InFlightBatch:
        return self._by_first[self._firsts[-1]]

    def put(self, batch: InFlightBatch) -> None:
        """Add a batch, replacing one with the same first offset."""
        if batch.first not in self._by_first:
            insort(self._firsts, batch.first)
        self._by_first[batch.first] = batch

    def at_or_before(self, offset: int) -> InFlightBatch | None:
        """Return the last batch whose first offset is at most `offset`."""
        at = bisect_right(self._firsts, offset)
        return self._by_first[self._firsts[at - 1]] if at else None

    def beginning_in(self, first: int, last: int) -> list[InFlightBatch]:
        """Return the batches whose first offset is between `first` and `last`."""
        begin, end = bisect_left(self._firsts, first), bisect_right(self._firsts, last)
        return [self._by_first[at] for at in self._firsts[begin:end]]

    def drop_before(self, offset: int) -> None:
        """Drop the batches whose first offset is below `offset`."""
        end = bisect_left(self._firsts, offset)
        for first in self._firsts[:end]:
            del self._by_first[first]
        del self._firsts[:end]

    def archive(self, first: int, last: int, state: RecordState) -> list[Piece]:
        """Archive the records from `first` to `last` that are in `state`; return them."""
        begin = self.at_or_before(first)
        found = []
        for batch in self.beginning_in(first if begin is None else begin.first, last):
            if batch.whole is not None and batch.whole.state is not state:
                continue
            if not batch.is_within(first, last):
                batch.split()
            pieces = [piece for piece in batch.pieces(first, last) if piece.held.state is state]
            for piece in pieces:
                piece.held.state, piece.held.member_id = RecordState.ARCHIVED, ""
            found += pieces
        return found
