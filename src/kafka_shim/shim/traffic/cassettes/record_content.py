"""The records in batches of any format, without their times and offsets."""

from typing import NamedTuple

from kafka_shim.protocol.records.batches import batch_bounds_and_magic, iterate_batches
from kafka_shim.protocol.records.message_sets import iterate_outer_messages, read_message_set
from kafka_shim.protocol.records.record_codec import Headers, Record
from kafka_shim.shim.traffic.cassettes.request_content import (
    Content,
    ContentField,
    digest,
    value_text,
)


class RecordContent(NamedTuple):
    """A record in a partition."""

    topic: str
    partition: int
    key: bytes | None
    value: bytes | None
    headers: Headers

    @property
    def content(self) -> Content:
        """What identifies it, loosely without its partition."""
        rest = digest(self.topic, self.key, self.value, self.headers)
        return Content(digest(self.partition, rest), rest)

    @property
    def fields(self) -> list[ContentField]:
        """The fields that two records are compared by."""
        names = "topic_data[].name", "partition", "key of the record", "value of the record"
        return [*map(ContentField, (*names, "headers of the record"), self)]

    @property
    def text(self) -> str:
        return f"key {value_text(self.key)}, value {value_text(self.value)}"


class BatchRange(NamedTuple):
    """The offsets of a batch, and where it is in its blob."""

    first_offset: int
    last_offset: int
    start: int
    end: int
    is_transactional: bool


def records_in_complete_batches(
    topic: str, partition: int, blob: bytes | None
) -> list[RecordContent]:
    """Return the records of all batches. Raise ProtocolError for damaged ones."""
    blob = blob or b""
    return [
        RecordContent(topic, partition, each.key, each.value, each.headers)
        for start, end, magic in batch_bounds_and_magic(blob, allows_truncated_end=True)
        for each in _records_of_batch(blob[start:end], magic)
    ]


def _records_of_batch(batch: bytes, magic: int) -> list[Record]:
    return next(iterate_batches(batch)).records() if magic == 2 else read_message_set(batch)


def complete_batch_ranges(blob: bytes) -> list[BatchRange]:
    """Return the complete batches of a blob."""
    ranges = []
    for start, end, magic in batch_bounds_and_magic(blob, allows_truncated_end=True):
        if magic == 2:
            batch = next(iterate_batches(blob[start:end]))
            found = (batch.base_offset, batch.last_offset, start, end, batch.is_transactional)
            ranges.append(BatchRange(*found))
        else:
            offset = next(iterate_outer_messages(blob[start:end])).offset
            ranges.append(BatchRange(offset, offset, start, end, is_transactional=False))
    return ranges
