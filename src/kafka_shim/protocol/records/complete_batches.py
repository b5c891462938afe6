"""Batches, and messages of the formats before 2, in one form."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from kafka_shim.protocol.records.batches import batch_bounds_and_magic, iterate_batches
from kafka_shim.protocol.records.message_sets import iterate_outer_messages, read_message_set
from kafka_shim.protocol.records.record_codec import Record


class CompleteBatch(NamedTuple):
    """A batch, or a message of the formats before 2: its bytes, its offsets and its records."""

    blob: bytes
    first_offset: int
    last_offset: int
    is_transactional: bool
    records: Callable[[], list[Record]]


def complete_batches(blob: bytes | None) -> Iterator[CompleteBatch]:
    """Yield the batches of a blob with any end. Raise ProtocolError for damaged ones."""
    content = blob or b""
    for start, end, magic in batch_bounds_and_magic(content, allows_truncated_end=True):
        part = content[start:end]
        if magic == 2:
            batch = next(iterate_batches(part))
            ends = batch.base_offset, batch.last_offset
            yield CompleteBatch(part, *ends, batch.is_transactional, batch.records)
        else:
            offset = next(iterate_outer_messages(part)).offset
            records = partial(read_message_set, part)
            yield CompleteBatch(part, offset, offset, is_transactional=False, records=records)
