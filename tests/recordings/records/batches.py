"""Encodes and decodes record batches and messages of the older formats, for scenarios.

It is independent of the code under test, and can encode invalid batches on purpose.
"""

import gzip
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence

from crc32c import crc32c

T0 = 1_600_000_000_000
"""The time (ms) of records whose time does not matter."""

GZIP = 1
SNAPPY = 2
LZ4 = 3
ZSTD = 4
APPEND_TIME = 8
TRANSACTIONAL = 0x10
CONTROL = 0x20
DELETE_HORIZON = 0x40


def zigzag(number: int) -> bytes:
    number = (number << 1) ^ (number >> 63)
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


Headers = Sequence[tuple[bytes, bytes | None]]


def record(
    delta: int, value: bytes | None, key: bytes | None, time_delta: int, headers: Headers = ()
) -> bytes:
    body = b"\0" + zigzag(time_delta) + zigzag(delta)
    for part in (key, value):
        body += zigzag(-1) if part is None else zigzag(len(part)) + part
    body += zigzag(len(headers))
    for part in (part for header in headers for part in header):
        body += zigzag(-1) if part is None else zigzag(len(part)) + part
    return zigzag(len(body)) + body


def batch(
    values: Sequence[bytes | None] = (b"v",),
    *,
    producer: tuple[int, int, int] = (-1, -1, -1),
    attributes: int = 0,
    times: Sequence[int] = (),
    keys: Sequence[bytes | None] = (),
    base_offset: int = 0,
    last_delta: int | None = None,
    count: int | None = None,
    magic: int = 2,
    damage: bool = False,
    packs: Callable[[bytes], bytes] | None = None,
) -> bytes:
    """Return a batch of format 2; `producer` is id, epoch and base sequence.

    `packs` compresses the records; without it, only gzip in `attributes` compresses.
    """
    times = times or [T0] * len(values)
    keys = keys or [None] * len(values)
    rows = zip(values, keys, times, strict=True)
    base = times[0] if times else T0
    records = b"".join(
        record(delta, value, key, time - base) for delta, (value, key, time) in enumerate(rows)
    )
    if attributes & 7 == GZIP:
        records = gzip.compress(records, mtime=0)
    if packs:
        records = packs(records)
    body = struct.pack(
        ">hiqqqhii",
        attributes,
        len(values) - 1 if last_delta is None else last_delta,
        base,
        max(times, default=T0),
        *producer,
        len(values) if count is None else count,
    )
    body += records
    crc = crc32c(body) ^ (1 if damage else 0)
    return struct.pack(">qiibI", base_offset, len(body) + 9, -1, magic, crc) + body


def message(
    value: bytes | None,
    *,
    magic: int = 1,
    offset: int = 0,
    key: bytes | None = None,
    attributes: int = 0,
    time: int = T0,
    damage: bool = False,
) -> bytes:
    """Return a message of format 0 or 1, with its offset and size in a message set."""
    body = struct.pack(">bb", magic, attributes)
    if magic == 1:
        body += struct.pack(">q", time)
    for part in (key, value):
        body += struct.pack(">i", -1) if part is None else struct.pack(">i", len(part)) + part
    crc = zlib.crc32(body) ^ (1 if damage else 0)
    return struct.pack(">qiI", offset, len(body) + 4, crc) + body


def wrapper(values: Sequence[bytes], *, magic: int = 1, time: int = T0) -> bytes:
    """Return a gzip wrapper message with relative (format 1) or absolute (format 0) offsets."""
    inner = b"".join(
        message(value, magic=magic, offset=at, time=time) for at, value in enumerate(values)
    )
    packed = gzip.compress(inner, mtime=0)
    return message(packed, magic=magic, attributes=GZIP, offset=len(values) - 1, time=time)


Row = tuple[int, int, bytes | None, bytes | None, list[tuple[bytes | None, bytes | None]]]
"""Offset and timestamp as deltas, key, value, headers."""


def summary(records: bytes | None) -> list[str] | None:
    """Return a line for each batch or message in fetched records.

    An incomplete end, or padding after a down-conversion, is ignored, as in consumers.
    """
    return None if records is None else list(_summary(records))


def contents(records: bytes) -> Iterator[str]:
    """Yield a line for each record of uncompressed batches: offset, key, value, headers."""
    at = 0
    while at < len(records):
        base, size = struct.unpack_from(">qi", records, at)
        end = at + 12 + size
        (count,) = struct.unpack_from(">i", records, at + 57)
        for delta, _, key, value, headers in _rows(records[at + 61 : end], count):
            named = "".join(f" {_text(name, 99)}={_text(told, 99)}" for name, told in headers)
            yield f"{base + delta}:{_text(key)}={_text(value)}{named}"
        at = end


def _summary(records: bytes) -> Iterator[str]:
    at = 0
    while at < len(records):
        if len(records) - at < 17:
            return
        offset, size = struct.unpack_from(">qi", records, at)
        end = at + 12 + size
        if end > len(records):
            return
        magic = records[at + 16]
        yield _batch(records[at:end]) if magic == 2 else _message(records[at + 12 : end], offset)
        at = end


def _batch(data: bytes) -> str:
    base, _, leader_epoch, _, crc = struct.unpack_from(">qiibI", data)
    attributes, last, first_time, newest, pid, epoch, sequence, count = struct.unpack_from(
        ">hiqqqhii", data, 21
    )
    body = data[61:]
    if attributes & 7 == GZIP:
        body = gzip.decompress(body)
    shown = "?" if attributes & 7 > GZIP else " ".join(_records(body, count, first_time))
    good = "" if crc32c(data[21:]) == crc else " BAD CRC"
    if attributes & DELETE_HORIZON:
        good = f" horizon={{{first_time}}}" + good
    return (
        f"v2 base={base} last={last} leader={leader_epoch} attributes={attributes:#x}"
        f" time={{{newest}}} producer={{{pid}}}/{epoch}/{sequence} [{shown}]{good}"
    )


def _records(body: bytes, count: int, first_time: int) -> Iterator[str]:
    for delta, time, key, value, _ in _rows(body, count):
        yield f"{delta}@{{{first_time + time}}}:{_text(key)}={_text(value)}"


def _rows(body: bytes, count: int) -> Iterator[Row]:
    at = 0
    for _ in range(count):
        _, at = _varint(body, at)
        at += 1
        time, at = _varint(body, at)
        delta, at = _varint(body, at)
        key, at = _sized(body, at)
        value, at = _sized(body, at)
        number, at = _varint(body, at)
        headers = []
        for _ in range(number):
            name, at = _sized(body, at)
            told, at = _sized(body, at)
            headers.append((name, told))
        yield delta, time, key, value, headers


def _message(data: bytes, offset: int) -> str:
    crc, magic, attributes = struct.unpack_from(">Ibb", data)
    at = 6
    time = ""
    if magic == 1:
        time = f"@{{{struct.unpack_from('>q', data, at)[0]}}}"
        at += 8
    parts = []
    for _ in range(2):
        (size,) = struct.unpack_from(">i", data, at)
        at += 4
        parts.append(None if size < 0 else data[at : at + size])
        at += max(size, 0)
    key, value = parts
    good = "" if zlib.crc32(data[4:]) == crc else " BAD CRC"
    if attributes & 7 == GZIP and value is not None:
        inner = " ".join(_summary(gzip.decompress(value)))
        return f"v{magic} {offset}{time} attributes={attributes:#x} ({inner}){good}"
    return f"v{magic} {offset}{time} attributes={attributes:#x} {_text(key)}={_text(value)}{good}"


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return (value >> 1) ^ -(value & 1), at


def _sized(data: bytes, at: int) -> tuple[bytes | None, int]:
    size, at = _varint(data, at)
    return (None, at) if size < 0 else (data[at : at + size], at + size)


def _text(value: bytes | None, shown: int = 12) -> str:
    if value is None:
        return "null"
    text = value.decode("latin-1")
    return text if text.isprintable() and len(text) <= shown else f"{len(value)}:{value[:12].hex()}"
