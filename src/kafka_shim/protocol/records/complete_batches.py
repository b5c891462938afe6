"""Batches, and messages of the formats before 2, in one form."""

from collections.abc import Iterator
from typing import NamedTuple

from kafka_shim.protocol.records.batches import (
    Batch,
    batch_bounds,
    encode_compacted_batch,
    iterate_batches,
)
from kafka_shim.protocol.records.message_sets import iterate_outer_messages, read_message_set
from kafka_shim.protocol.records.record_codec import Record


class CompleteBatch(NamedTuple):
    """The bytes and offsets of a batch, or of a message of the formats before 2 (`batch` is None).

    The message is that of one record, or of several ones that are compressed.
    """

    blob: bytes
    first_offset: int
    last_offset: int
    batch: Batch | None = None

    @property
    def is_transactional(self) -> bool:
        return self.batch is not None and self.batch.is_transactional

    def records(self) -> list[Record]:
        """Return the records. Raise ProtocolError if they are damaged."""
        return read_message_set(self.blob) if self.batch is None else self.batch.records()

    def cut_before(self, offset: int) -> "CompleteBatch | None":
        """Return the batch without the records from an offset on; None if no record is left, or in
        the formats before 2.
        """
        records = [record for record in self.records() if record.offset < offset]
        if self.batch is None or not records:
            return None
        last_offset = records[-1].offset
        (batch,) = iterate_batches(self.blob)
        batch.last_offset_delta = last_offset - batch.base_offset
        blob = encode_compacted_batch(batch, records, batch.delete_horizon_ms)
        return CompleteBatch(blob, batch.base_offset, last_offset, batch)


def complete_batches(blob: bytes | None) -> Iterator[CompleteBatch]:
    """Yield the batches of a blob with any end. Raise ProtocolError for damaged ones."""
    content = blob or b""
    for start, end, magic in batch_bounds(content, allows_truncated_end=True):
        part = content[start:end]
        if magic == 2:
            (batch,) = iterate_batches(part)
            yield CompleteBatch(part, batch.base_offset, batch.last_offset, batch)
        else:
            (message,) = iterate_outer_messages(part)
            yield CompleteBatch(part, message.offset, message.offset)
