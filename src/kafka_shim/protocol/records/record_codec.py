"""Reads and writes the records of a batch of format 2: zigzag varints, keys, values, headers."""

from collections.abc import Iterator, Sequence

import msgspec

from kafka_shim.protocol.codec.java_utf8 import decode_like_java
from kafka_shim.protocol.errors import DecodeError

Headers = tuple[tuple[str, bytes | None], ...]

INT_VARINT, LONG_VARINT = (5, 0xFFFFFFFF), (10, 0xFFFFFFFFFFFFFFFF)
"""Most bytes of a varint, and the bits that count."""


class Record(msgspec.Struct, gc=False):
    """One record; times are milliseconds since 1970, -1 for none."""

    offset: int
    timestamp: int
    key: bytes | None = None
    value: bytes | None = None
    headers: Headers = ()


def read_zigzag_varint(buf: bytes, pos: int) -> tuple[int, int]:
    """Read a zigzag varint of at most 10 bytes."""
    byte = buf[pos]
    pos += 1
    if byte < 128:
        return (byte >> 1) ^ -(byte & 1), pos
    value = byte & 127
    byte = buf[pos]
    if byte < 128:
        value |= byte << 7
        return (value >> 1) ^ -(value & 1), pos + 1
    for shift in range(7, 70, 7):
        byte = buf[pos]
        pos += 1
        value |= (byte & 127) << shift
        if byte < 128:
            value &= 0xFFFFFFFFFFFFFFFF
            return (value >> 1) ^ -(value & 1), pos
    raise DecodeError(f"varint is longer than 10 bytes at byte {pos - 10}")


def read_raw_varint(content: bytes, pos: int, bytes_max: int, mask: int) -> tuple[int, int]:
    """Read a varint as it is written, before it is made signed."""
    value = 0
    for shift in range(0, 7 * bytes_max, 7):
        byte = content[pos]
        pos += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & mask, pos
    raise DecodeError(f"varint is longer than {bytes_max} bytes at byte {pos - bytes_max}")


def append_zigzag_varint(out: bytearray, value: int) -> None:
    """Write a zigzag varint of a value of at most 64 bits."""
    rest = (value << 1) ^ (value >> 63)
    while rest > 127:
        out.append(rest & 127 | 128)
        rest >>= 7
    out.append(rest)


SHORT_VARINTS = tuple((byte >> 1) ^ -(byte & 1) for byte in range(128))
"""Values of one-byte varints, the most common ones. They are looked up in place, since a call would
take longer than everything else."""
_TIME_END = 1 << 63
NULL_LENGTH = 1  # a length of -1


def wrap_int64(timestamp: int) -> int:
    """Return a sum of times as 64 bits, in which it wraps around as in Java."""
    return (timestamp + _TIME_END) % (2 * _TIME_END) - _TIME_END


def read_records(content: bytes, count: int, base_offset: int, base_timestamp: int) -> list[Record]:
    """Return `count` records whose offsets and timestamps start from the batch's.

    Raise DecodeError for another number of records, or a record of another length than it claims.
    """
    return list(iterate_records(content, count, base_offset, base_timestamp))


def iterate_records(
    content: bytes, count: int, base_offset: int, base_timestamp: int
) -> Iterator[Record]:
    """Yield what `read_records` returns, one record at a time."""
    if not 0 <= count <= len(content):
        raise DecodeError(f"a batch claims {count} records in {len(content)} bytes")
    pos = 0
    try:
        for _ in range(count):
            byte = content[pos]
            length, start = (
                (SHORT_VARINTS[byte], pos + 1) if byte < 128 else read_zigzag_varint(content, pos)
            )
            pos = start + length
            if length < 0 or pos > len(content):
                raise DecodeError(f"a record claims {length} bytes at byte {start}")
            yield _read_record(content, start, pos, base_offset, base_timestamp)
    except IndexError as error:
        raise DecodeError("a batch ends before its records do") from error
    if pos != len(content):
        raise DecodeError(f"{len(content) - pos} bytes follow the records of a batch")


def _read_record(buf: bytes, pos: int, end: int, base_offset: int, base_timestamp: int) -> Record:
    byte = buf[pos + 1]  # the attributes byte before this is unused
    delta, pos = (SHORT_VARINTS[byte], pos + 2) if byte < 128 else read_zigzag_varint(buf, pos + 1)
    timestamp = base_timestamp + delta
    if not -_TIME_END <= timestamp < _TIME_END:
        timestamp = wrap_int64(timestamp)
    byte = buf[pos]
    delta, pos = (SHORT_VARINTS[byte], pos + 1) if byte < 128 else read_zigzag_varint(buf, pos)
    offset = base_offset + delta
    if buf[pos] == NULL_LENGTH:
        key, pos = None, pos + 1
    else:
        key, pos = _read_nullable_bytes(buf, pos, end)
    value, pos = _read_nullable_bytes(buf, pos, end)
    headers: Headers = ()
    if buf[pos]:
        headers, pos = _read_headers(buf, pos, end)
    else:
        pos += 1
    if pos != end:
        raise DecodeError(f"a record ends at byte {pos}, and claimed to end at {end}")
    return Record(offset, timestamp, key, value, headers)


def _read_headers(buf: bytes, pos: int, end: int) -> tuple[Headers, int]:
    count, pos = read_zigzag_varint(buf, pos)
    if not 0 <= count <= end - pos:
        raise DecodeError(f"a record claims {count} headers at byte {pos}")
    headers = []
    for _ in range(count):
        name, pos = _read_nullable_bytes(buf, pos, end)
        if name is None:
            raise DecodeError(f"a record's header has no name at byte {pos}")
        content, pos = _read_nullable_bytes(buf, pos, end)
        headers.append((decode_like_java(name), content))
    return tuple(headers), pos


def _read_nullable_bytes(buf: bytes, pos: int, end: int) -> tuple[bytes | None, int]:
    byte = buf[pos]
    length, pos = (SHORT_VARINTS[byte], pos + 1) if byte < 128 else read_zigzag_varint(buf, pos)
    if length < 0:
        return None, pos
    if pos + length > end:
        raise DecodeError(f"a record's field claims {length} bytes at byte {pos}")
    return buf[pos : pos + length], pos + length


def write_records(records: Sequence[Record], base_offset: int, base_timestamp: int) -> bytes:
    """Return records as the content of a batch."""
    out = bytearray()
    for record in records:
        body = bytearray(1)
        append_zigzag_varint(body, record.timestamp - base_timestamp)
        append_zigzag_varint(body, record.offset - base_offset)
        _append_length_prefixed(body, record.key)
        _append_length_prefixed(body, record.value)
        append_zigzag_varint(body, len(record.headers))
        for name, content in record.headers:
            _append_length_prefixed(body, name.encode())
            _append_length_prefixed(body, content)
        append_zigzag_varint(out, len(body))
        out += body
    return bytes(out)


def _append_length_prefixed(out: bytearray, content: bytes | None) -> None:
    if content is None:
        append_zigzag_varint(out, -1)
    else:
        append_zigzag_varint(out, len(content))
        out += content
