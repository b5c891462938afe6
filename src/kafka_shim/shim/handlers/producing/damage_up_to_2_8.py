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
from kafka_shim.protocol.records.validation import RecordChecks, UnreadableError, validate_records
from kafka_shim.protocol.releases.records import RecordFacts

GZIP_HEADER_BYTES = 10


class _UnexpectedError(Exception):
    """Damage over which a broker fails."""


class _InvalidError(Exception):
    """Damage for which a broker refuses the records."""


def is_unexpected(batch: Batch, facts: RecordFacts, scope: RecordChecks) -> bool | None:
    """Whether a broker up to 2.8 fails over a damaged batch; None: as later ones."""
    content = bytes(batch.blob[batch.start + HEADER_BYTES : batch.end])
    if batch.compression == Compression.GZIP:
        content = _inflated(content)
    elif batch.compression:
        return None
    if batch.compression and not facts.compressed_records_ignore_claimed_size:
        return False if _is_invalid(content, batch, scope) else None
    try:
        _read_all(content, batch, facts)
    except _UnexpectedError:
        return True
    except (_InvalidError, IndexError):
        return False if content else None
    return None


def _inflated(data: bytes) -> bytes:
    """Return the content of gzip, whose checksum is verified only after the records; empty if it is
    damaged or too large.
    """
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        content = stream.decompress(data[GZIP_HEADER_BYTES:], DECOMPRESSED_BYTES_MAX)
    except zlib.error:
        return b""
    return b"" if stream.unconsumed_tail else content


def _is_invalid(content: bytes, batch: Batch, scope: RecordChecks) -> bool:
    try:
        validate_records(content, batch.count, batch.base_timestamp, scope)
    except UnreadableError:
        return False
    except DecodeError:
        return bool(content)
    return False


def _read_all(content: bytes, batch: Batch, facts: RecordFacts) -> None:
    pos = 0
    for left in range(batch.count - 1, -1, -1):
        try:
            size, pos = _varint(content, pos, INT_VARINT)
        except _InvalidError as error:
            raise _UnexpectedError from error
        if batch.compression:
            if size < 0:
                raise _UnexpectedError
            body, at = content[pos : pos + size], 0
            if len(body) < size:
                raise _InvalidError
        else:
            body, at = content, pos
            if size > len(content) - pos:
                raise _InvalidError if not left and pos < len(content) else _UnexpectedError
        if _read(body, at, facts) - at != size:
            raise _InvalidError
        pos += size
    if pos < len(content):
        raise _InvalidError


def _read(body: bytes, pos: int, facts: RecordFacts) -> int:
    """Return where a record ends; IndexError if it does not."""
    _, pos = _varint(body, pos + 1, LONG_VARINT)
    _, pos = _varint(body, pos, INT_VARINT)
    pos = _skip(body, pos)
    pos = _skip(body, pos)
    count, pos = _varint(body, pos, INT_VARINT)
    if not 0 <= count <= len(body) - pos:
        raise _InvalidError
    for _ in range(count):
        size, pos = _varint(body, pos, INT_VARINT)
        if size < 0:
            raise _InvalidError
        if size > len(body) - pos:
            raise _UnexpectedError if facts.oversized_header_name_fails_produce else _InvalidError
        pos = _skip(body, pos + size)
    return pos


def _skip(body: bytes, pos: int) -> int:
    """Return the place behind a field with its size."""
    size, pos = _varint(body, pos, INT_VARINT)
    if size > len(body) - pos:
        raise _InvalidError
    return pos + max(size, 0)


def _varint(body: bytes, pos: int, limits: tuple[int, int]) -> tuple[int, int]:
    try:
        raw, pos = read_raw_varint(body, pos, *limits)
    except DecodeError as error:
        raise _InvalidError from error
    return (raw >> 1) ^ -(raw & 1), pos
