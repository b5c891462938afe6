"""Damaged records as brokers up to 2.8 read them: one after the other, with incomplete checks.

Damage that they check is an invalid record. Other damage fails with UNKNOWN_SERVER_ERROR: a record
of an uncompressed batch (except the last) that is longer than the rest; up to 2.6 such a header
name; up to 2.5 a negative size in a compressed batch.
"""

import zlib

from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.records.batches import HEADER_BYTES, Batch
from kafka_shim.protocol.records.compression import DECOMPRESSED_BYTES_MAX, Compression
from kafka_shim.protocol.records.record_codec import INT_VARINT, LONG_VARINT, read_raw_varint
from kafka_shim.protocol.records.validation import (
    RecordChecks,
    UnreadableRecordsError,
    validate_records,
)
from kafka_shim.protocol.releases.records import RecordFacts

GZIP_HEADER_BYTES = 10


class _BrokerFailsError(Exception):
    """Damage over which a broker fails."""


class _RecordsInvalidError(Exception):
    """Damage for which a broker refuses the records."""


def fails_broker(batch: Batch, facts: RecordFacts, scope: RecordChecks) -> bool | None:
    """Return whether a broker up to 2.8 fails over a damaged batch; None: as later ones."""
    content = bytes(batch.blob[batch.start_in_blob + HEADER_BYTES : batch.end_in_blob])
    if batch.compression_code == Compression.GZIP:
        content = _gunzip_without_checksum(content)
    elif batch.compression_code:
        return None
    if batch.compression_code and not facts.compressed_records_ignore_claimed_size:
        return False if _is_rejected_as_invalid(content, batch, scope) else None
    try:
        _read_records_one_by_one(content, batch, facts)
    except _BrokerFailsError:
        return True
    except (_RecordsInvalidError, IndexError):
        return False if content else None
    return None


def _gunzip_without_checksum(data: bytes) -> bytes:
    """Return the content of gzip, whose checksum is verified only after the records; empty if it is
    damaged or too large.
    """
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        content = stream.decompress(data[GZIP_HEADER_BYTES:], DECOMPRESSED_BYTES_MAX)
    except zlib.error:
        return b""
    return b"" if stream.unconsumed_tail else content


def _is_rejected_as_invalid(content: bytes, batch: Batch, scope: RecordChecks) -> bool:
    try:
        validate_records(content, batch.record_count, batch.base_timestamp, scope)
    except UnreadableRecordsError:
        return False
    except DecodeError:
        return bool(content)
    return False


def _read_records_one_by_one(content: bytes, batch: Batch, facts: RecordFacts) -> None:
    pos = 0
    for left in range(batch.record_count - 1, -1, -1):
        try:
            size, pos = _read_varint(content, pos, INT_VARINT)
        except _RecordsInvalidError as error:
            raise _BrokerFailsError from error
        if batch.compression_code:
            if size < 0:
                raise _BrokerFailsError
            body, at = content[pos : pos + size], 0
            if len(body) < size:
                raise _RecordsInvalidError
        else:
            body, at = content, pos
            if size > len(content) - pos:
                raise _RecordsInvalidError if not left and pos < len(content) else _BrokerFailsError
        if _end_of_record(body, at, facts) - at != size:
            raise _RecordsInvalidError
        pos += size
    if pos < len(content):
        raise _RecordsInvalidError


def _end_of_record(body: bytes, pos: int, facts: RecordFacts) -> int:
    """Return where a record ends. Raise IndexError if it does not."""
    _, pos = _read_varint(body, pos + 1, LONG_VARINT)
    _, pos = _read_varint(body, pos, INT_VARINT)
    pos = _end_of_sized_field(body, pos)
    pos = _end_of_sized_field(body, pos)
    count, pos = _read_varint(body, pos, INT_VARINT)
    if not 0 <= count <= len(body) - pos:
        raise _RecordsInvalidError
    for _ in range(count):
        size, pos = _read_varint(body, pos, INT_VARINT)
        if size < 0:
            raise _RecordsInvalidError
        if size > len(body) - pos:
            raise (
                _BrokerFailsError
                if facts.oversized_header_name_fails_produce
                else _RecordsInvalidError
            )
        pos = _end_of_sized_field(body, pos + size)
    return pos


def _end_of_sized_field(body: bytes, pos: int) -> int:
    """Return the place behind a field with its size."""
    size, pos = _read_varint(body, pos, INT_VARINT)
    if size > len(body) - pos:
        raise _RecordsInvalidError
    return pos + max(size, 0)


def _read_varint(body: bytes, pos: int, limits: tuple[int, int]) -> tuple[int, int]:
    try:
        raw, pos = read_raw_varint(body, pos, *limits)
    except DecodeError as error:
        raise _RecordsInvalidError from error
    return (raw >> 1) ^ -(raw & 1), pos
