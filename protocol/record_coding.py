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


class Survey(msgspec.Struct, frozen=True, gc=False):
    """What is true of all records of a batch; times are milliseconds since 1970.

    None is earlier than `earliest`, none later than `latest`; `lacks_key`: some have no key.
    """

    earliest: int
    latest: int
    lacks_key: bool


def varint(buf: bytes, pos: int) -> tuple[int, int]:
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


def append_varint(out: bytearray, value: int) -> None:
    """Write a zigzag varint of a value of at most 64 bits."""
    rest = (value << 1) ^ (value >> 63)
    while rest > 127:
        out.append(rest & 127 | 128)
        rest >>= 7
    out.append(rest)


_SHORT = tuple((byte >> 1) ^ -(byte & 1) for byte in range(128))
"""Values of varints of one byte, as most are. They are looked up where they stand, since a call
takes longer than all else about them."""
_NULL = 1  # a length of -1
_SHORT_MS = 64
"""Times that take one byte are so near to the batch's."""
_NOT_SHORT = ~0x3FFE
"""Bits that no length has which is not negative and takes two bytes at most."""
_ALIKE = 6
"""From so many records on it pays to see whether they are all of one shape."""
_KEY_BYTES = tuple(
    0 if first == _NULL else first >> 1 if first < 128 and first % 2 == 0 else 1 << 40
    for first in range(256)
)
"""By the first byte of a key's length, unless that takes more: then no batch is so long."""


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
            byte = content[pos]
            length, start = (_SHORT[byte], pos + 1) if byte < 128 else varint(content, pos)
            pos = start + length
            if length < 0 or pos > len(content):
                raise DecodeError(f"a record claims {length} bytes at byte {start}")
            records.append(_read_record(content, start, pos, offset, timestamp))
    except IndexError as fault:
        raise DecodeError("a batch ends before its records do") from fault
    if pos != len(content):
        raise DecodeError(f"{len(content) - pos} bytes follow the records of a batch")
    return records


def survey(content: bytes, count: int, timestamp: int) -> Survey:
    """Look at `count` records without building them, in less than half the time.

    Raises DecodeError when `read_records` does, which reads them if one looks unusual.
    """
    lacks_key = _glance(content, count) if count > 0 else None
    if lacks_key is not None:
        return Survey(timestamp - _SHORT_MS, timestamp + _SHORT_MS, lacks_key)
    records = read_records(content, count, 0, timestamp)
    times = [record.timestamp for record in records] or [timestamp]
    return Survey(min(times), max(times), any(record.key is None for record in records))


def _glance(content: bytes, count: int) -> bool | None:
    """Whether one of the records has no key; None unless all are sound and look like most do.

    That is, without headers, with a value, their lengths and that of the value in one or two bytes,
    all other numbers in one.
    """
    size, rest = divmod(len(content), count)
    if count >= _ALIKE and not rest:
        first = content[:size]
        lacks_key = _walk(first, 1)
        if lacks_key is not None and _are_alike(content, count, first):
            return lacks_key
    return _walk(content, count)


def _are_alike(content: bytes, count: int, first: bytes) -> bool:
    """Whether all have the lengths that the first one has, as the records of a tool for load."""
    size = len(first)
    attributes = 1 if first[0] < 128 else 2
    key = attributes + 3
    value = key + 1 + _KEY_BYTES[first[key]]
    value_end = value + (first[value] > 127)
    for at in (0, attributes - 1, key, value, value_end, size - 1):
        if content[at::size].count(first[at]) != count:
            return False
    return content[attributes + 1 :: size].isascii() and content[attributes + 2 :: size].isascii()


def _walk(content: bytes, count: int) -> bool | None:
    """What `_glance` tells, record by record."""
    pos = numbers = keys = 0
    try:
        for _ in range(count):
            size = content[pos]
            if size > 127:
                pos += 1
                size += (content[pos] << 7) - 128
            key = content[pos + 4]
            at = pos + 5 + _KEY_BYTES[key]
            value = content[at]
            if value > 127:
                at += 1
                value += (content[at] << 7) - 128
            numbers |= size | value | (content[pos + 2] | content[pos + 3]) << 7  # time and offset
            keys |= key
            pos += 1 + (size >> 1)
            if at + (value >> 1) + 2 != pos or content[pos - 1]:
                return None
    except IndexError:
        return None
    if numbers & _NOT_SHORT or pos != len(content):
        return None
    return bool(keys & _NULL)


def _read_record(buf: bytes, pos: int, end: int, offset: int, timestamp: int) -> Record:
    byte = buf[pos + 1]  # the attributes byte before it is unused
    delta, pos = (_SHORT[byte], pos + 2) if byte < 128 else varint(buf, pos + 1)
    timestamp += delta
    byte = buf[pos]
    delta, pos = (_SHORT[byte], pos + 1) if byte < 128 else varint(buf, pos)
    offset += delta
    if buf[pos] == _NULL:
        key, pos = None, pos + 1
    else:
        key, pos = _read_bytes(buf, pos, end)
    value, pos = _read_bytes(buf, pos, end)
    headers: Headers = ()
    if buf[pos]:
        headers, pos = _read_headers(buf, pos, end)
    else:
        pos += 1
    if pos != end:
        raise DecodeError(f"a record ends at byte {pos}, and claimed to end at {end}")
    return Record(offset, timestamp, key, value, headers)


def _read_headers(buf: bytes, pos: int, end: int) -> tuple[Headers, int]:
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
    return tuple(headers), pos


def _read_bytes(buf: bytes, pos: int, end: int) -> tuple[bytes | None, int]:
    byte = buf[pos]
    length, pos = (_SHORT[byte], pos + 1) if byte < 128 else varint(buf, pos)
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
