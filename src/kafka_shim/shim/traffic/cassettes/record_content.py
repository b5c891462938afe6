"""The records in batches of any format, without their times and offsets."""

from typing import Any, NamedTuple

from kafka_shim.protocol.records.batches import batch_bounds_and_magic, iterate_batches
from kafka_shim.protocol.records.message_sets import iterate_outer_messages, read_message_set
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
    headers: tuple[tuple[bytes, bytes | None], ...]

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
    records: list[RecordContent] = []
    for start, end, magic in batch_bounds_and_magic(blob or b"", allows_truncated_end=True):
        part = (blob or b"")[start:end]
        found = next(iterate_batches(part)).records() if magic == 2 else read_message_set(part)
        records += (
            RecordContent(
                topic,
                partition,
                _bytes_or_none(each.key),
                _bytes_or_none(each.value),
                tuple((_header_name(name), _bytes_or_none(value)) for name, value in each.headers),
            )
            for each in found
        )
    return records


def _bytes_or_none(value: Any) -> bytes | None:
    return None if value is None else bytes(value)


def _header_name(name: Any) -> bytes:
    return name.encode() if isinstance(name, str) else bytes(name)


def complete_batch_ranges(blob: bytes) -> list[BatchRange]:
    """Return the complete batches of a blob."""
    ranges = []
    for start, end, magic in batch_bounds_and_magic(blob, allows_truncated_end=True):
        part = blob[start:end]
        if magic == 2:
            batch = next(iterate_batches(part))
            offsets = batch.base_offset, batch.last_offset
            is_transactional = batch.is_transactional
        else:
            offset = next(iterate_outer_messages(part)).offset
            offsets, is_transactional = (offset, offset), False
        ranges.append(BatchRange(*offsets, start, end, is_transactional))
    return ranges
