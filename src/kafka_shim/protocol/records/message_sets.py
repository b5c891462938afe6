"""Reads and writes message sets, formats 0 and 1, of clients before 0.11.

A message set is a sequence of messages, each with an offset, a size and a CRC-32. Compressed
messages are a set inside a message, which has the offset of the last one. Inside, format 0 has
the real offsets, format 1 offsets relative to the first.

LZ4 in format 0 has a wrong checksum in its frame headers (KAFKA-3160). Old clients computed it over
the frame's magic number too, and brokers still write it like this for them. LZ4 libraries reject
it, so it is corrected before reading and falsified after writing.
"""

import zlib
from collections.abc import Iterator, Sequence
from itertools import islice
from struct import Struct, error as struct_error
from typing import NamedTuple

from kafka_shim.protocol.errors import DecodeError, EncodeError
from kafka_shim.protocol.records.batches import batch_bounds, iterate_batches
from kafka_shim.protocol.records.compression import Compression, compress, decompress
from kafka_shim.protocol.records.record_codec import Record

_MAGIC_BYTES = 4
_HEADER_BYTES_MAX = 15
_CONTENT_SIZE_FLAG = 0x08
_PRIMES = (2654435761, 2246822519, 3266489917, 668265263, 374761393)
_MASK = 0xFFFFFFFF


def with_correct_header_checksum(frame: bytes) -> bytes:
    """Return an LZ4 frame with the correct checksum; invalid data is returned unchanged."""
    return _replace_header_checksum(frame, _MAGIC_BYTES)


def with_format_0_header_checksum(frame: bytes) -> bytes:
    """Return an LZ4 frame with the checksum that clients of format 0 expect."""
    return _replace_header_checksum(frame, 0)


def _replace_header_checksum(frame: bytes, covered_from: int) -> bytes:
    if len(frame) < _HEADER_BYTES_MAX:
        return frame
    has_size = bool(frame[_MAGIC_BYTES] & _CONTENT_SIZE_FLAG)
    at = _MAGIC_BYTES + 2 + (8 if has_size else 0)
    checksum = _xxh32_of_short_data(frame[covered_from:at]) >> 8 & 255
    return frame[:at] + bytes([checksum]) + frame[at + 1 :]


def _xxh32_of_short_data(data: bytes) -> int:
    """Return xxHash32 of less than 16 bytes."""
    assert len(data) < 16
    prime_1, prime_2, prime_3, prime_4, prime_5 = _PRIMES
    value = prime_5 + len(data)
    whole = len(data) // 4 * 4
    for at in range(0, whole, 4):
        lane = int.from_bytes(data[at : at + 4], "little")
        value = _rotate_left(value + lane * prime_3, 17) * prime_4 & _MASK
    for byte in data[whole:]:
        value = _rotate_left(value + byte * prime_5, 11) * prime_1 & _MASK
    value = (value ^ value >> 15) * prime_2 & _MASK
    value = (value ^ value >> 13) * prime_3 & _MASK
    return value ^ value >> 16


def _rotate_left(value: int, bits: int) -> int:
    value &= _MASK
    return (value << bits | value >> 32 - bits) & _MASK


NO_TIMESTAMP = -1
INNER_MESSAGES_MAX = 1 << 17
"""Maximum of a compressed message, so that a small request cannot fill the memory."""
_PREFIX = Struct(">qi")
_MESSAGE = {0: Struct(">bb"), 1: Struct(">bbq")}
_CRC = Struct(">I")
_SIZE = Struct(">i")
_COMPRESSION, _APPEND_TIME = 0x07, 0x08
_CRC_BYTES = 4
_HEAD_BYTES = _PREFIX.size + _CRC_BYTES


class Message(NamedTuple):
    """A message in a set, still compressed if it is a compressed one."""

    offset: int
    magic: int
    attributes: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    crc: int
    is_intact: bool

    @property
    def compression_code(self) -> int:
        return self.attributes & _COMPRESSION

    @property
    def has_append_time(self) -> bool:
        return self.magic > 0 and bool(self.attributes & _APPEND_TIME)


def iterate_outer_messages(blob: bytes, *, allows_truncated_end: bool = False) -> Iterator[Message]:
    """Yield the outer messages of a set. Raise DecodeError on damage other than a wrong checksum.

    With `allows_truncated_end`, the set may end in the middle of a message, which is left out.
    """
    for start, end, magic in batch_bounds(blob, allows_truncated_end=allows_truncated_end):
        if magic not in _MESSAGE:
            raise DecodeError(f"a message at byte {start} has format {magic}; expected 0 or 1")
        try:
            yield _read_message(blob[start:end], magic)
        except (struct_error, IndexError) as error:
            raise DecodeError(f"a message at byte {start} ends early") from error


def _read_message(data: bytes, magic: int) -> Message:
    offset, _ = _PREFIX.unpack_from(data)
    (crc,) = _CRC.unpack_from(data, _PREFIX.size)
    head = _MESSAGE[magic]
    _, attributes, *rest = head.unpack_from(data, _HEAD_BYTES)
    key, pos = _read_nullable_bytes(data, _HEAD_BYTES + head.size)
    value, pos = _read_nullable_bytes(data, pos)
    if pos != len(data):
        raise DecodeError(f"a message claims {len(data)} bytes and has {pos}")
    timestamp = rest[0] if rest else NO_TIMESTAMP
    is_intact = zlib.crc32(memoryview(data)[_HEAD_BYTES:]) == crc
    return Message(offset, magic, attributes, timestamp, key, value, crc, is_intact)


def _read_nullable_bytes(data: bytes, pos: int) -> tuple[bytes | None, int]:
    (length,) = _SIZE.unpack_from(data, pos)
    pos += 4
    if length < 0:
        return None, pos
    if pos + length > len(data):
        raise DecodeError(f"a message's field claims {length} bytes")
    return data[pos : pos + length], pos + length


def read_message_set(blob: bytes, *, allows_truncated_end: bool = False) -> list[Record]:
    """Return the records of a set, also of compressed messages. Raise DecodeError on damage."""
    records: list[Record] = []
    for message in iterate_outer_messages(blob, allows_truncated_end=allows_truncated_end):
        if message.compression_code:
            records += _decompress_inner_records(message)
        else:
            records.append(_record_from_message(message))
    return records


def _record_from_message(message: Message) -> Record:
    return Record(message.offset, message.timestamp, message.key, message.value)


def _decompress_inner_records(outer: Message) -> list[Record]:
    try:
        compression = Compression(outer.compression_code)
    except ValueError as unknown:
        raise DecodeError(f"unknown compression {outer.compression_code}") from unknown
    if outer.value is None:
        raise DecodeError("a compressed message has no value")
    content = outer.value
    if compression == Compression.LZ4 and outer.magic == 0:
        content = with_correct_header_checksum(content)
    inner = list(
        islice(iterate_outer_messages(decompress(compression, content)), INNER_MESSAGES_MAX + 1)
    )
    if len(inner) > INNER_MESSAGES_MAX:
        raise DecodeError(f"a compressed message holds more than {INNER_MESSAGES_MAX} messages")
    if not inner:
        raise DecodeError("a compressed message holds no messages")
    if any(message.compression_code or message.magic != outer.magic for message in inner):
        raise DecodeError("a compressed message holds messages of another format or compression")
    records = [_record_from_message(message) for message in inner]
    shift = outer.offset - inner[-1].offset if outer.magic else 0
    for record in records:
        record.offset += shift
        if outer.has_append_time:
            record.timestamp = outer.timestamp
    return records


def write_message_set(
    records: Sequence[Record],
    magic: int,
    compression: Compression = Compression.NONE,
    *,
    append_time_ms: int | None = None,
) -> bytes:
    """Return records as a set of format 0 or 1, on request as one compressed message.

    Headers do not exist in these formats and are left out; format 0 has no timestamps.
    """
    assert magic in _MESSAGE, f"unknown message format {magic}"
    if compression == Compression.ZSTD:
        raise EncodeError("zstd exists only in batches of format 2")
    flags = _APPEND_TIME if append_time_ms is not None and magic else 0
    if compression == Compression.NONE:
        return b"".join(_encode_message(record, magic, flags, append_time_ms) for record in records)
    if not records:
        return b""
    first, last = records[0].offset, records[-1].offset
    shift = first if magic else 0
    inner = b"".join(
        _encode_message(Record(r.offset - shift, r.timestamp, r.key, r.value), magic, flags, None)
        for r in records
    )
    newest = max(record.timestamp for record in records)
    content = compress(compression, inner)
    if compression == Compression.LZ4 and magic == 0:
        content = with_format_0_header_checksum(content)
    outer = Record(last, newest, None, content)
    return _encode_message(outer, magic, flags | compression, append_time_ms)


def _encode_message(
    record: Record, magic: int, attributes: int, append_time_ms: int | None
) -> bytes:
    timestamp = record.timestamp if append_time_ms is None else append_time_ms
    rest = (timestamp,) if magic else ()
    body = b"".join(
        (
            _MESSAGE[magic].pack(magic, attributes, *rest),
            _encode_length_prefixed(record.key),
            _encode_length_prefixed(record.value),
        )
    )
    size = _CRC_BYTES + len(body)
    return _PREFIX.pack(record.offset, size) + _CRC.pack(zlib.crc32(body)) + body


def _encode_length_prefixed(content: bytes | None) -> bytes:
    return _SIZE.pack(-1) if content is None else _SIZE.pack(len(content)) + content


def down_convert_data_batches(blob: bytes, magic: int) -> bytes:
    """Return a blob of batches of format 2 as a message set, as brokers do for old consumers.

    Control batches are left out; compression and timestamp type are kept. EncodeError for zstd.
    """
    parts = []
    for batch in iterate_batches(blob, allows_truncated_end=True):
        if batch.is_control:
            continue
        append_time = batch.max_timestamp if batch.has_append_time else None
        compression = Compression(batch.compression_code)
        records = batch.records()
        parts.append(write_message_set(records, magic, compression, append_time_ms=append_time))
    return b"".join(parts)
