"""Compares the records that a client reads from a partition, in the recording and at the target."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.records.batches import HEADER_BYTES, Batch, iterate_batches
from kafka_shim.protocol.records.complete_batches import CompleteBatch, complete_batches
from kafka_shim.protocol.records.record_codec import Record
from kafka_shim.traces.replay.offset_mapping import PartitionOffsets

_TEXT_BYTES_MAX = 40


class ReadDifference(NamedTuple):
    """A record by its recorded offset, as text, in the recording and at the target; "" is none."""

    offset: int
    recorded: str
    actual: str


class PartitionReading:
    """The records in a recorded Fetch response, and those that the target returned."""

    def __init__(
        self,
        offsets: PartitionOffsets,
        recorded: bytes | None,
        aborted_transactions: Sequence[Any] | None = None,
    ) -> None:
        self._offsets = offsets
        self._recorded_batches = list(_data_batches(recorded))
        self._recorded_aborted = aborted_batches(recorded, aborted_transactions)
        self._target_aborted: set[int] = set()
        self._target_batches: dict[int, CompleteBatch] = {}
        self._target_records: dict[int, tuple[Record | None, str]] | None = None
        self._repeated: list[int] = []
        self.uncompared = 0
        """The number of records that the recording did not write itself."""
        self.compared = 0
        self.unknown_offsets: dict[int, str] = {}
        """Records of the target that the recording has not written, by their offsets."""

    def add_target(
        self, records: bytes | None, aborted_transactions: Sequence[Any] | None = None
    ) -> None:
        """Add what the target returned to one request."""
        behind = -1
        self._target_aborted |= aborted_batches(records, aborted_transactions)
        for batch in _data_batches(records):
            if batch.first_offset <= behind:
                self._repeated.append(batch.first_offset)
            behind = batch.last_offset
            self._target_batches[batch.first_offset] = batch
            if not self._is_written_batch(batch):
                self._add_unexpected_records(batch)
        self._target_records = None

    def missing_target_offset(self) -> int | None:
        """Return the first offset of the target at which a record is expected, but was not yet
        returned; None if there is none.
        """
        return min(self._missing_offsets(), default=None)

    def differences(self, *, is_late: bool = False) -> Iterator[ReadDifference]:
        """Yield what differs, and count what was compared.

        `is_late`: what the target has not returned was not asked for, and is not compared.
        """
        self.compared = self.uncompared = 0
        for batch in self._recorded_batches:
            yield from self._outcome_differences(batch)
            if self._is_equal_batch(batch):
                self.compared += _record_count(batch)
                continue
            if self._is_foreign_batch(batch):
                self.uncompared += _record_count(batch)
                continue
            for record in _records(batch):
                target_offset = self._offsets.target_of_written(record.offset)
                if target_offset is None:
                    self.uncompared += 1
                    continue
                actual, time = self._records_of_target().get(target_offset, (None, ""))
                own_time = _time_text(record, batch)
                if actual is None and is_late:
                    self.uncompared += 1
                    continue
                self.compared += 1
                if actual is None:
                    yield ReadDifference(record.offset, _record_text(record), "")
                elif _content(record) != _content(actual):
                    yield ReadDifference(record.offset, _record_text(record), _record_text(actual))
                elif own_time != time and own_time and time:
                    yield ReadDifference(record.offset, own_time, time)
        for offset in self._repeated:
            repeated, _ = self._records_of_target().get(offset, (None, ""))
            text = "unreadable" if repeated is None else _record_text(repeated)
            yield ReadDifference(offset, "", f"{text}, repeated")

    def _outcome_differences(self, batch: CompleteBatch) -> Iterator[ReadDifference]:
        """Yield whether only one of both brokers says that a batch's transaction was aborted."""
        target = self._offsets.target_of_written(batch.first_offset)
        if target is None or target not in self._target_batches:
            return
        outcomes = batch.first_offset in self._recorded_aborted, target in self._target_aborted
        if outcomes[0] != outcomes[1]:
            recorded, actual = ("aborted" if outcome else "committed" for outcome in outcomes)
            yield ReadDifference(batch.first_offset, recorded, actual)

    def _missing_offsets(self) -> Iterator[int]:
        for batch in self._recorded_batches:
            if self._is_equal_batch(batch) or self._is_foreign_batch(batch):
                continue
            for offset in _offsets_in(batch):
                target_offset = self._offsets.target_of_written(offset)
                if target_offset is not None and target_offset not in self._records_of_target():
                    yield target_offset

    def drop_compared(self) -> int:
        """Forget what was compared; return the number of bytes that are kept."""
        self._recorded_batches = [
            batch for batch in self._recorded_batches if self._is_foreign_batch(batch)
        ]
        self._repeated.clear()
        kept = [*self._recorded_batches, *self._target_batches.values()]
        return sum(len(batch.blob) for batch in kept)

    def has_passed(self, offset: int) -> bool:
        """Return whether the target returned a record behind this offset."""
        return any(batch.last_offset > offset for batch in self._target_batches.values())

    def _is_foreign_batch(self, batch: CompleteBatch) -> bool:
        """Return whether the recording has not written the batch."""
        target_of = self._offsets.target_of_written
        return target_of(batch.first_offset) is None and target_of(batch.last_offset) is None

    def _is_equal_batch(self, batch: CompleteBatch) -> bool:
        """Return whether the target returned the same records as one batch, by its bytes."""
        target = self._offsets.target_of_written(batch.first_offset)
        found = None if target is None else self._target_batches.get(target)
        if found is None or found.batch is None or batch.batch is None:
            return False
        return (
            found.batch.last_offset_delta == batch.batch.last_offset_delta
            and found.batch.compression_code == batch.batch.compression_code
            and found.batch.record_count == batch.batch.record_count
            and found.batch.has_append_time == batch.batch.has_append_time
            and (batch.batch.has_append_time or _has_equal_times(found.batch, batch.batch))
            and found.blob[HEADER_BYTES:] == batch.blob[HEADER_BYTES:]
        )

    def _is_written_batch(self, batch: CompleteBatch) -> bool:
        contains = self._offsets.contains_target
        return contains(batch.first_offset) and contains(batch.last_offset)

    def _add_unexpected_records(self, batch: CompleteBatch) -> None:
        for record in _records(batch):
            if not self._offsets.contains_target(record.offset):
                self.unknown_offsets[record.offset] = _record_text(record)

    def _records_of_target(self) -> dict[int, tuple[Record | None, str]]:
        if self._target_records is None:
            self._target_records = {
                record.offset: (record, _time_text(record, batch))
                for batch in self._target_batches.values()
                for record in _records(batch)
            }
        return self._target_records


def count_records(records: bytes | None) -> int:
    """Return the number of records in a blob, without those of transactions' ends."""
    return sum(_record_count(batch) for batch in _data_batches(records))


def _data_batches(blob: bytes | None) -> Iterator[CompleteBatch]:
    try:
        for batch in complete_batches(blob):
            if batch.batch is None or not batch.batch.is_control:
                yield batch
    except ProtocolError:
        return


def _records(batch: CompleteBatch) -> list[Record]:
    try:
        return batch.records()
    except ProtocolError:
        return []


def _record_count(batch: CompleteBatch) -> int:
    return len(_records(batch)) if batch.batch is None else batch.batch.record_count


def _offsets_in(batch: CompleteBatch) -> Iterable[int]:
    span = range(batch.first_offset, batch.last_offset + 1)
    if len(span) == _record_count(batch):
        return span
    return [record.offset for record in _records(batch)]  # others were compacted


def aborted_batches(blob: bytes | None, aborted: Sequence[Any] | None) -> set[int]:
    """Return the first offsets of the batches that a client ignores, as it finds them.

    `aborted` are the aborted transactions in a Fetch response: producers, each from an offset on,
    up to its next marker.
    """
    found: set[int] = set()
    if not aborted:
        return found
    waiting = sorted((row.first_offset, row.producer_id) for row in aborted)
    producers: set[int] = set()
    try:
        for batch in iterate_batches(blob or b"", allows_truncated_end=True):
            while waiting and waiting[0][0] <= batch.last_offset:
                producers.add(waiting.pop(0)[1])
            if batch.is_control:
                producers.discard(batch.producer_id)
            elif batch.is_transactional and batch.producer_id in producers:
                found.add(batch.base_offset)
    except ProtocolError:
        pass
    return found


def _has_equal_times(batch: Batch, other: Batch) -> bool:
    """Return whether the times begin equally, as far as compaction has left that time."""
    if batch.delete_horizon_ms is not None or other.delete_horizon_ms is not None:
        return False
    return batch.base_timestamp == other.base_timestamp


def _content(record: Record) -> tuple[object, ...]:
    return record.key, record.value, record.headers


def _time_text(record: Record, batch: CompleteBatch) -> str:
    """Return the time that a producer has set, or that the broker did; "" in older formats."""
    if batch.batch is None:
        return ""
    return "time of the append" if batch.batch.has_append_time else f"time {record.timestamp}"


def _record_text(record: Record) -> str:
    headers = f", headers {_headers_text(record)}" if record.headers else ""
    return f"key {_bytes_text(record.key)}, value {_bytes_text(record.value)}{headers}"


def _headers_text(record: Record) -> str:
    return ", ".join(f"{name} {_bytes_text(value)}" for name, value in record.headers)


def _bytes_text(content: bytes | None) -> str:
    if content is None:
        return "null"
    shown = content[:_TEXT_BYTES_MAX].decode("utf-8", "backslashreplace")
    rest = len(content) - _TEXT_BYTES_MAX
    return f"`{shown}`" if rest <= 0 else f"`{shown}` and {rest} bytes"
