"""Compares the records that a client reads from a partition, in the recording and at the target."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.records.batches import HEADER_BYTES
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

    def __init__(self, offsets: PartitionOffsets, recorded: bytes | None) -> None:
        self._offsets = offsets
        self._recorded_batches = list(_data_batches(recorded))
        self._target_batches: dict[int, CompleteBatch] = {}
        self._target_records: dict[int, Record] | None = None
        self._repeated: list[int] = []
        self.uncompared = 0
        """The number of records that the recording did not write itself."""
        self.compared = 0
        self.unknown_offsets: dict[int, str] = {}
        """Records of the target that the recording has not written, by their offsets."""

    def add_target(self, records: bytes | None) -> None:
        """Add what the target returned to one request."""
        behind = -1
        for batch in _data_batches(records):
            if batch.first_offset <= behind:
                self._repeated.append(batch.first_offset)
            behind = batch.last_offset
            self._target_batches[batch.first_offset] = batch
            if not self._is_written_batch(batch):
                self._add_unknown(batch)
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
                actual = self._records_of_target().get(target_offset)
                if actual is None and is_late:
                    self.uncompared += 1
                    continue
                self.compared += 1
                if actual is None:
                    yield ReadDifference(record.offset, _record_text(record), "")
                elif _content(record) != _content(actual):
                    yield ReadDifference(record.offset, _record_text(record), _record_text(actual))
        for offset in self._repeated:
            repeated = self._records_of_target().get(offset)
            text = "unreadable" if repeated is None else _record_text(repeated)
            yield ReadDifference(offset, "", f"{text}, repeated")

    def _missing_offsets(self) -> Iterator[int]:
        for batch in self._recorded_batches:
            if self._is_equal_batch(batch) or self._is_foreign_batch(batch):
                continue
            for offset in _offsets_in(batch):
                target_offset = self._offsets.target_of_written(offset)
                if target_offset is not None and target_offset not in self._records_of_target():
                    yield target_offset

    def keep_uncompared(self) -> int:
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
            and found.blob[HEADER_BYTES:] == batch.blob[HEADER_BYTES:]
        )

    def _is_written_batch(self, batch: CompleteBatch) -> bool:
        contains = self._offsets.contains_target
        return contains(batch.first_offset) and contains(batch.last_offset)

    def _add_unknown(self, batch: CompleteBatch) -> None:
        for record in _records(batch):
            if not self._offsets.contains_target(record.offset):
                self.unknown_offsets[record.offset] = _record_text(record)

    def _records_of_target(self) -> dict[int, Record]:
        if self._target_records is None:
            self._target_records = {
                record.offset: record
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


def _content(record: Record) -> tuple[object, ...]:
    return record.key, record.value, record.headers


def _record_text(record: Record) -> str:
    headers = f", {len(record.headers)} headers" if record.headers else ""
    return f"key {_bytes_text(record.key)}, value {_bytes_text(record.value)}{headers}"


def _bytes_text(content: bytes | None) -> str:
    if content is None:
        return "null"
    shown = content[:_TEXT_BYTES_MAX].decode("utf-8", "backslashreplace")
    rest = len(content) - _TEXT_BYTES_MAX
    return f"`{shown}`" if rest <= 0 else f"`{shown}` and {rest} bytes"
