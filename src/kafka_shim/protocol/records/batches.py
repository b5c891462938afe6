"""Finds record batches of format 2 in a blob, reads and changes their headers, reads their records.

A blob is the content of a partition in a Produce request or Fetch response: consecutive batches.
Batches of formats 0 and 1 are in `message_sets`.
"""

from collections.abc import Iterable, Iterator, Sequence
from struct import Struct, error as struct_error
from typing import TYPE_CHECKING

import msgspec

from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.records.compression import (
    Compression,
    compress,
    decompress,
    decompress_intact_part,
)
from kafka_shim.protocol.records.record_codec import Record, iterate_records, write_records
from kafka_shim.protocol.records.validation import (
    ALL_CHECKS,
    RecordChecks,
    RecordsSummary,
    validate_records,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Batch",
    "BatchOptions",
    "Record",
    "assign_consecutive_offsets",
    "assign_offsets",
    "batch_bounds",
    "encode_batch",
    "encode_compacted_batch",
    "iterate_batches",
    "marker_commits_transaction",
    "only_batch_or_none",
]

HEADER_BYTES = 61
NO_PRODUCER = -1
_PREFIX = Struct(">qi")  # base offset and length, which are not part of the length
_PREFIX_BYTES = _PREFIX.size
_PLACE = Struct(">qii")  # these two and the leader epoch
_PLACE_BYTES = _PLACE.size
_HEADER = Struct(">qiibIhiqqqhii")
_UNCOVERED, CHECKSUMMED_HEADER = Struct(">qiibI"), Struct(">hiqqqhii")  # the same in two parts
_CRC_AT, _COVERED_FROM = 17, 21  # the checksum covers everything after it
_MAGIC_AT = 16
MAGIC = 2
_COMPRESSION, _APPEND_TIME, TRANSACTIONAL, CONTROL = 0x07, 0x08, 0x10, 0x20
_DELETE_HORIZON = 0x40
_CONTROL_KEY = Struct(">hh")
_SEAL = Struct(">bI")
"""The magic and the checksum, which the checksum does not cover."""
_EPOCH_BYTES = 4
_MARKER = Struct(f"{CHECKSUMMED_HEADER.format}5bhhbhib")
"""What the checksum of a marker covers: with a record of 16 bytes, a key of 4 and a value of 6."""
_package_function: "list[Callable[[bytes | memoryview], int]]" = []


class Batch(msgspec.Struct, gc=False):
    """A batch of format 2, and its position in its blob."""

    base_offset: int
    length: int
    """Number of bytes after this field."""
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int
    blob: bytes = b""
    start_in_blob: int = 0

    @property
    def size(self) -> int:
        """Total number of bytes."""
        return _PREFIX_BYTES + self.length

    @property
    def end_in_blob(self) -> int:
        """Position in the blob after this batch."""
        return self.start_in_blob + _PREFIX_BYTES + self.length

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def compression_code(self) -> int:
        """Code of the compression, as in `compression.Compression`; it may be unknown."""
        return self.attributes & _COMPRESSION

    @property
    def has_append_time(self) -> bool:
        """Return whether the timestamp of all records is that of the append, `max_timestamp`."""
        return bool(self.attributes & _APPEND_TIME)

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL)

    @property
    def delete_horizon_ms(self) -> int | None:
        """Time from which a cleaner may delete its tombstones or marker; None if not yet known.

        It is stored in place of the base timestamp (KIP-534).
        """
        return self.base_timestamp if self.attributes & _DELETE_HORIZON else None

    def tobytes(self) -> bytes:
        return self.blob[self.start_in_blob : self.end_in_blob]

    def is_intact(self) -> bool:
        """Return whether the checksum is correct."""
        start = self.start_in_blob
        end = start + _PREFIX_BYTES + self.length
        return crc32c(memoryview(self.blob)[start + _COVERED_FROM : end]) == self.crc

    def validate_records(self, checks: RecordChecks = ALL_CHECKS) -> RecordsSummary:
        """Check the records without building them. Raise DecodeError as in
        `validation.validate_records`.

        Damaged compression is an UnreadableRecordsError, unless the records before it are wrong.
        """
        damage, content, batch_start = None, self.blob, self.start_in_blob
        start, end = batch_start + HEADER_BYTES, batch_start + _PREFIX_BYTES + self.length
        code = self.attributes & _COMPRESSION
        if code:
            content, damage = decompress_intact_part(
                _compression_from_code(code), content[start:end]
            )
            start = 0
        elif end != len(content):
            content, start = content[start:end], 0
        summary = validate_records(
            content, self.record_count, self.base_timestamp, checks, damage, start
        )
        if self.attributes & _APPEND_TIME:
            return msgspec.structs.replace(
                summary, earliest_timestamp=self.max_timestamp, latest_timestamp=self.max_timestamp
            )
        return summary

    def records(self) -> list[Record]:
        """Return the records. Raise DecodeError if they are damaged. The checksum is not
        checked.
        """
        return list(self.iterate_records())

    def iterate_records(self) -> Iterator[Record]:
        """Yield what `records` returns, one record at a time."""
        for record in iterate_records(
            self._decompressed_content(), self.record_count, self.base_offset, self.base_timestamp
        ):
            if self.has_append_time:
                record.timestamp = self.max_timestamp
            yield record

    def _decompressed_content(self) -> bytes:
        content = self.blob[self.start_in_blob + HEADER_BYTES : self.end_in_blob]
        code = self.attributes & _COMPRESSION
        return decompress(_compression_from_code(code), content) if code else content


def _compression_from_code(code: int) -> Compression:
    try:
        return Compression(code)
    except ValueError as unknown:
        raise DecodeError(f"unknown compression {code}") from unknown


def batch_bounds(
    blob: bytes, *, allows_truncated_end: bool = False
) -> Iterator[tuple[int, int, int]]:
    """Yield the start, end and format of each batch or message in a blob, in any format.

    With `allows_truncated_end`, a truncated last one is left out, as in a Fetch response. Raise
    DecodeError for any other truncated one.
    """
    pos = 0
    while pos < len(blob):
        if pos + _MAGIC_AT >= len(blob):
            if allows_truncated_end:
                return
            raise DecodeError(f"{len(blob) - pos} bytes at byte {pos} are not a complete batch")
        _, length = _PREFIX.unpack_from(blob, pos)
        end = pos + _PREFIX_BYTES + length
        if length < _MAGIC_AT + 1 - _PREFIX_BYTES:
            raise DecodeError(f"a batch at byte {pos} claims {length} bytes")
        if end > len(blob):
            if allows_truncated_end:
                return
            raise DecodeError(f"a batch at byte {pos} claims {end - len(blob)} bytes too many")
        yield pos, end, blob[pos + _MAGIC_AT]
        pos = end


def iterate_batches(blob: bytes, *, allows_truncated_end: bool = False) -> Iterator[Batch]:
    """Yield the batches of a blob. Raise DecodeError on damage and on older formats."""
    for start, end, magic in batch_bounds(blob, allows_truncated_end=allows_truncated_end):
        if magic != 2:
            raise DecodeError(f"a batch at byte {start} has format {magic}; expected 2")
        if end - start < HEADER_BYTES:
            raise DecodeError(f"a batch at byte {start} has only {end - start} bytes")
        batch = Batch(*_HEADER.unpack_from(blob, start))
        batch.blob, batch.start_in_blob = blob, start
        yield batch


def only_batch_or_none(blob: bytes) -> Batch | None:
    """Return the batch of a blob with exactly one batch of format 2, else None."""
    if len(blob) < HEADER_BYTES or blob[_MAGIC_AT] != 2:
        return None
    batch = Batch(*_HEADER.unpack_from(blob))
    batch.blob = blob
    return batch if batch.length == len(blob) - _PREFIX_BYTES else None


def assign_offsets(
    batch: Batch,
    base_offset: int,
    *,
    partition_leader_epoch: int = -1,
    append_time_ms: int | None = None,
) -> bytes:
    """Return the batch as a log stores it; `append_time_ms`: the time of all its records."""
    place = _PLACE.pack(base_offset, batch.length, partition_leader_epoch)
    rest = memoryview(batch.blob)[batch.start_in_blob + _PLACE_BYTES : batch.end_in_blob]
    payload = b"".join((place, rest))
    if append_time_ms is None:
        return payload
    out = bytearray(payload)
    attributes = batch.attributes | _APPEND_TIME
    out[21:23] = attributes.to_bytes(2, "big", signed=True)
    out[35:43] = append_time_ms.to_bytes(8, "big", signed=True)
    _set_checksum(out)
    return bytes(out)


def _set_checksum(batch: bytearray) -> None:
    """Set the checksum of a batch."""
    with memoryview(batch) as view:
        crc = crc32c(view[_COVERED_FROM:])
    batch[_CRC_AT:_COVERED_FROM] = crc.to_bytes(4, "big")


class BatchOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The header fields of a batch."""

    compression: Compression = Compression.NONE
    append_time_ms: int | None = None
    partition_leader_epoch: int = -1
    producer_id: int = NO_PRODUCER
    producer_epoch: int = -1
    base_sequence: int = -1
    is_transactional: bool = False
    is_control: bool = False

    @property
    def attributes(self) -> int:
        flags = int(self.compression)
        flags |= _APPEND_TIME if self.append_time_ms is not None else 0
        flags |= TRANSACTIONAL if self.is_transactional else 0
        return flags | (CONTROL if self.is_control else 0)


DEFAULT_OPTIONS = BatchOptions()


def encode_batch(records: Sequence[Record], options: BatchOptions = DEFAULT_OPTIONS) -> bytes:
    """Return records as one batch; their offsets must rise, and there must be at least one."""
    assert records, "a batch has at least one record"
    first = records[0]
    base_offset, base_timestamp = first.offset, first.timestamp
    content = write_records(records, base_offset, base_timestamp)
    content = compress(options.compression, content)
    newest = options.append_time_ms
    if newest is None:
        newest = max(record.timestamp for record in records)
    covered = CHECKSUMMED_HEADER.pack(
        options.attributes,
        records[-1].offset - base_offset,
        base_timestamp,
        newest,
        options.producer_id,
        options.producer_epoch,
        options.base_sequence,
        len(records),
    )
    return batch_with_checksum(base_offset, options.partition_leader_epoch, covered + content)


def batch_with_checksum(
    base_offset: int, partition_leader_epoch: int, checksummed_part: bytes
) -> bytes:
    """Return a batch; `checksummed_part` is everything after its checksum."""
    length = _COVERED_FROM - _PREFIX_BYTES + len(checksummed_part)
    return (
        _UNCOVERED.pack(
            base_offset, length, partition_leader_epoch, MAGIC, crc32c(checksummed_part)
        )
        + checksummed_part
    )


def encode_compacted_batch(
    batch: Batch, records: Sequence[Record], delete_horizon_ms: int | None
) -> bytes:
    """Return a batch with some of its records only, as a log cleaner writes it (KIP-98, KIP-534).

    Offsets and sequence numbers stay those of the whole batch. Without records, only the header is
    left.
    """
    attributes = batch.attributes & ~(_DELETE_HORIZON | (0 if records else _COMPRESSION))
    base_timestamp, max_timestamp = -1, batch.max_timestamp
    if records:
        base_timestamp = records[0].timestamp
        if not batch.has_append_time:
            max_timestamp = max(record.timestamp for record in records)
        if delete_horizon_ms is not None:
            attributes |= _DELETE_HORIZON
            base_timestamp = delete_horizon_ms
    content = write_records(records, batch.base_offset, base_timestamp)
    content = compress(_compression_from_code(attributes & _COMPRESSION), content)
    covered = CHECKSUMMED_HEADER.pack(
        attributes,
        batch.last_offset_delta,
        base_timestamp,
        max_timestamp,
        batch.producer_id,
        batch.producer_epoch,
        batch.base_sequence,
        len(records),
    )
    return batch_with_checksum(batch.base_offset, batch.partition_leader_epoch, covered + content)


def marker_commits_transaction(end_marker: Record) -> bool:
    """Return whether a control record commits. Raise DecodeError if it does not end a
    transaction.
    """
    try:
        _, kind = _CONTROL_KEY.unpack(end_marker.key or b"")
    except struct_error as error:
        raise DecodeError("a control record has no type") from error
    if kind not in (0, 1):
        raise DecodeError(f"a control record of type {kind} does not end a transaction")
    return bool(kind)


def assign_consecutive_offsets(
    batches_without_offsets: Iterable[Batch], base_offset: int, *, partition_leader_epoch: int = -1
) -> tuple[bytes, int]:
    """Return batches with consecutive offsets from `base_offset` on, and the next free offset."""
    parts = []
    for batch in batches_without_offsets:
        parts.append(
            assign_offsets(batch, base_offset, partition_leader_epoch=partition_leader_epoch)
        )
        base_offset += batch.last_offset_delta + 1
    return b"".join(parts), base_offset


def transaction_marker(
    producer_id_and_epoch: tuple[int, int], timestamp: int, *, commit: bool, coordinator_epoch: int
) -> bytes:
    """Return the batch that ends a transaction of a producer (id, epoch), without the part that
    `prepend_offset` adds. `encode_batch` returns the same, in more than twice the time.
    """
    flags, (producer_id, epoch) = TRANSACTIONAL | CONTROL, producer_id_and_epoch
    header = (flags, 0, timestamp, timestamp, producer_id, epoch, -1, 1)
    record = (2 * 16, 0, 0, 0, 2 * 4, 0, commit, 2 * 6, 0, coordinator_epoch, 0)
    covered = _MARKER.pack(*header, *record)
    return _SEAL.pack(MAGIC, crc32c(covered)) + covered


def prepend_offset(batch_without_offset: bytes, offset: int, partition_leader_epoch: int) -> bytes:
    """Return a batch with its offset and leader epoch, which the checksum does not cover."""
    return (
        _PLACE.pack(offset, len(batch_without_offset) + _EPOCH_BYTES, partition_leader_epoch)
        + batch_without_offset
    )


def crc32c(content: bytes | memoryview) -> int:
    """Return the CRC32C of these bytes.

    The package is imported at the first batch: it reads the metadata of installed packages, which
    takes a tenth of the time that a broker needs to start.
    """
    if not _package_function:
        from crc32c import crc32c as of_package  # noqa: PLC0415 - see the docstring

        _package_function.append(of_package)
    return _package_function[0](content)
