"""Looking at records of one shape together, by columns of bytes.

Records of one shape have the same lengths, no headers, and times and offsets of as many bytes. In a
load tool's batch the shape changes only where the offsets or the times need a byte more.
"""

from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.records.record_codec import INT_VARINT, SHORT_VARINTS, raw_varint

BEYOND = 1 << 65
"""Further than times can be apart."""
ALIKE = 6
"""Number of records from which it is faster to look at them together."""
_RUNS = 4
"""Shapes that are tried, and one more for each 16 records that were found alike."""
_BLOCK = 1 << 13
_OFFSETS_MAX = 1 << 20
_SHORT = bytes(range(0, 128, 2))
"""Offsets 0 to 63 as varints; then the bytes of those up to 8191, whose pattern repeats."""
_LOW = bytes(range(128, 256, 2)) * 128
_LAST = b"".join(bytes((byte,)) * 64 for byte in range(128))
_MIDDLE = b"".join(bytes((byte,)) * 64 for byte in range(128, 256))
_CONTINUED = bytes(range(128, 256))
WRAPS = 1 << 62
"""Times from here on may wrap around 64 bits, even with a difference of one or two bytes."""


Seen = tuple[int, int, int, int, bool]
"""What is true of the first records: their number, where they end, the least and the greatest time,
and whether some have no key. Times are differences from the batch's.
"""


_Shape = tuple[int, list[int], int, int, bool]
"""A run: the size of its records, the positions in the first one of the bytes that all have, of the
time and of the offset, and whether they have keys.
"""


def look_at_runs(content: bytes, start: int, count: int, timestamp: int, size_max: int) -> Seen:
    """Look at the first records of `count` as far as they form runs and have the offsets 0, 1, 2...

    They begin at `start`. `size_max` is the greatest size that a record may claim. The other
    records may have any form, or be damaged.
    """
    at, pos, earliest, latest, lacks_key = 0, start, BEYOND, -BEYOND, False
    runs = 0
    while count - at >= ALIKE and runs <= _RUNS + (at >> 4):
        try:
            shape = _shape(content, pos, at, size_max)
        except (IndexError, DecodeError):
            break
        if shape is None:
            break
        number = _number_alike(content, count, pos, at, shape)
        size, _, time_at, offset_at, has_key = shape
        end = pos + number * size
        low, high = content[time_at:end:size], None
        if offset_at - time_at == 2:
            high = content[time_at + 1 : end : size]
        deltas = _times(low, high, timestamp)
        if not deltas:
            break
        earliest, latest = min(earliest, *deltas), max(latest, *deltas)
        lacks_key = lacks_key or not has_key
        at, pos, runs = at + number, end, runs + 1
    return at, pos, earliest, latest, lacks_key


def _shape(content: bytes, pos: int, at: int, size_max: int) -> _Shape | None:
    """Return the shape of the record at `pos`; None if records of its kind are not for here."""
    length, body = content[pos], pos + 1
    if length > 127:
        length, body = raw_varint(content, pos, *INT_VARINT)
    end = body + (length >> 1)
    if content[pos:body] != content[end : end + body - pos]:  # the next record is no such one
        return None
    time_at = body + 1  # the attributes byte before it is unused
    offset_at = time_at + (1 if content[time_at] < 128 else 2)
    key_at = offset_at + (1 if at < 64 else 2 if at < _BLOCK else 3)
    key, key_end = content[key_at], key_at + 1
    if key > 127:
        key, key_end = raw_varint(content, key_at, *INT_VARINT)
    value_at = key_end if key & 1 else key_end + (key >> 1)
    value, value_end = raw_varint(content, value_at, *INT_VARINT)
    headers_at = value_end if value & 1 else value_end + (value >> 1)
    is_too_long = length & 1 or end - body > size_max
    if is_too_long or headers_at + 1 != end or content[headers_at]:
        return None
    same = [*range(pos, body), *range(key_at, key_end), *range(value_at, value_end), headers_at]
    return end - pos, same, time_at, offset_at, not key & 1


def _number_alike(content: bytes, count: int, pos: int, at: int, shape: _Shape) -> int:
    """Return how many records from number `at` at `pos` have a shape, 0 if offsets are others."""
    if at >= _OFFSETS_MAX:
        return 0
    size, same, _, offset_at, _ = shape
    number = min(count, 64 if at < 64 else (at & -_BLOCK) + _BLOCK) - at
    number = min(number, (len(content) - pos) // size)
    end = pos + number * size
    for place in same:
        column = content[place:end:size]
        if column.count(content[place]) != number:
            number -= len(column.lstrip(column[:1]))
            end = pos + number * size
    for place, expected in enumerate(_offsets(at), offset_at):
        if content[place:end:size] != expected[:number]:
            return 0
    return number


def _offsets(at: int) -> tuple[bytes, ...]:
    """Return the bytes of varints from number `at` on, by columns, as far as they are as long."""
    if at < 64:
        return (_SHORT[at:],)
    low, block = at & (_BLOCK - 1), at >> 13
    if not block:
        return _LOW[low:], _LAST[low:]
    return _LOW[low:], _MIDDLE[low:], bytes((block,)) * (_BLOCK - low)


def _times(low: bytes, high: bytes | None, timestamp: int) -> list[int]:
    """Return the different times of a run by the bytes of their varints: one, or low and high.

    There are none if they are not all of one length, or may wrap around.
    """
    if not -WRAPS < timestamp < WRAPS:
        return []
    if high is None:
        return [SHORT_VARINTS[byte] for byte in set(low)] if low.isascii() else []
    if low.translate(None, _CONTINUED) or not high.isascii():
        return []
    raws = {(more << 7) + byte - 128 for more, byte in set(zip(high, low, strict=True))}
    return [(raw >> 1) ^ -(raw & 1) for raw in raws]
