"""The records inside a batch of format 2: zigzag varints, keys, values, headers."""

from collections.abc import Sequence

import msgspec

from protocol.errors import DecodeError
from protocol.utf8 import text

Headers = tuple[tuple[str, bytes | None], ...]


class Record(msgspec.Struct, gc=False):
    """One record; times are milliseconds since 1970, -1 for none."""

    offset: int
    timestamp: int
    key: bytes | None = None
    value: bytes | None = None
    headers: Headers = ()


def varint(buf: bytes, pos: int) -> tuple[int, int]:
    """Read a zigzag varint of at most 10 bytes."""
    byte = buf[pos]
    pos += 1
    if byte < 128:
        return (byte >> 1) ^ -(byte & 1), pos
    value = byte & 127
    for shift in range(7, 70, 7):
        byte = buf[pos]
        pos += 1
        value |= (byte & 127) << shift
        if byte < 128:
            value &= 0xFFFFFFFFFFFFFFFF
            return (value >> 1) ^ -(value & 1), pos
    raise DecodeError(f"varint is longer than 10 bytes at byte {pos - 10}")


def append_varint(out: bytearray, value: int) -> None:
    """Write a zigzag varint of a value of at most 64 bits."""
    rest = (value << 1) ^ (value >> 63)
    while rest > 127:
        out.append(rest & 127 | 128)
        rest >>= 7
    out.append(rest)


def read_records(content: bytes, count: int, offset: int, timestamp: int) -> list[Record]:
    """Return `count` records whose offsets and timestamps start from the batch's.

    Raises DecodeError when there are more or less, or a record's length is not what it has.
    """
    if not 0 <= count <= len(content):
        raise DecodeError(f"a batch claims {count} records in {len(content)} bytes")
    records = []
    pos = 0
    try:
        for _ in range(count):
            length, start = varint(content, pos)
            pos = start + length
            if length < 0 or pos > len(content):
                raise DecodeError(f"a record claims {length} bytes at byte {start}")
            record = _read_record(content, start, pos)
            record.offset += offset
            record.timestamp += timestamp
            records.append(record)
    except IndexError as fault:
        raise DecodeError("a batch ends before its records do") from fault
    if pos != len(content):
        raise DecodeError(f"{len(content) - pos} bytes follow the records of a batch")
    return records


def _read_record(buf: bytes, pos: int, end: int) -> Record:
    timestamp_delta, pos = varint(buf, pos + 1)  # the attributes byte is unused
    offset_delta, pos = varint(buf, pos)
    key, pos = _read_bytes(buf, pos, end)
    value, pos = _read_bytes(buf, pos, end)
    count, pos = varint(buf, pos)
    if not 0 <= count <= end - pos:
        raise DecodeError(f"a record claims {count} headers at byte {pos}")
    headers = []
    for _ in range(count):
        name, pos = _read_bytes(buf, pos, end)
        if name is None:
            raise DecodeError(f"a record's header has no name at byte {pos}")
        content, pos = _read_bytes(buf, pos, end)
        headers.append((text(name), content))
    if pos != end:
        raise DecodeError(f"a record ends at byte {pos}, and claimed to end at {end}")
    return Record(offset_delta, timestamp_delta, key, value, tuple(headers))


def _read_bytes(buf: bytes, pos: int, end: int) -> tuple[bytes | None, int]:
    length, pos = varint(buf, pos)
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
        append_varint(body, record.timestamp - base_timestamp)
        append_varint(body, record.offset - base_offset)
        _append_bytes(body, record.key)
        _append_bytes(body, record.value)
        append_varint(body, len(record.headers))
        for name, content in record.headers:
            _append_bytes(body, name.encode())
            _append_bytes(body, content)
        append_varint(out, len(body))
        out += body
    return bytes(out)


def _append_bytes(out: bytearray, content: bytes | None) -> None:
    if content is None:
        append_varint(out, -1)
    else:
        append_varint(out, len(content))
        out += content
