"""Looking at the records of a batch of format 2 in one pass, without building them.

This is what a broker does before it stores a batch: it sees that the records have the form that
they should have, and learns their times, whether keys are missing, and whether offsets have gaps.
"""

import sys

import msgspec

from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.record_coding import (
    INT_VARINT,
    LONG_VARINT,
    SHORT_VARINTS,
    raw_varint,
)
from kafka_shim.protocol.record_runs import ALIKE, BEYOND, Seen, look_at_runs

UNLIMITED = sys.maxsize


class Survey(msgspec.Struct, frozen=True, gc=False):
    """What is true of all records of a batch; times are milliseconds since 1970.

    `earliest` and `latest` are the least and the greatest time. `lacks_key`: some have no key.
    `has_other_offsets`: they do not count 0, 1, 2 and so on from the batch's.
    """

    earliest: int
    latest: int
    lacks_key: bool
    has_other_offsets: bool = False


class Scope(msgspec.Struct, frozen=True, gc=False):
    """How far a survey goes. `has_sizes`: each record is as long as it says."""

    has_sizes: bool = True
    items_max: int = UNLIMITED
    """Records and headers."""
    record_bytes_max: int = UNLIMITED
    """Of the size that a record says it has; with a limit, no size may be negative."""


EVERYTHING = Scope()


class UnreadableError(DecodeError):
    """Damage that keeps a broker from reading on, as it does in compressed content."""


def survey(
    content: bytes,
    count: int,
    timestamp: int,
    scope: Scope = EVERYTHING,
    damage: str | None = None,
    start: int = 0,
) -> Survey:
    """Look at `count` records from `start` to the end, whose times start from `timestamp`.

    `damage`: why the content is not all that it should be, if that is so.
    Raises DecodeError when there are more or fewer, when one is not of the form of a record, or
    when they are over the limits; UnreadableError for damage that they do not show themselves.
    """
    if not 0 < count <= scope.items_max:
        raise DecodeError(f"a batch claims {count} records")
    seen = (0, start, BEYOND, -BEYOND, False)
    if count >= ALIKE:
        seen = look_at_runs(content, start, count, timestamp, scope.record_bytes_max)
    try:
        found = _walk(content, count, timestamp, scope, seen)
    except IndexError as error:
        early = DecodeError("a batch ends before its records do")
        raise early if damage is None else UnreadableError(damage) from error
    if damage is not None:
        raise UnreadableError(damage)
    return found


def _walk(  # noqa: C901, PLR0912, PLR0915 - calls would take longer than all else
    content: bytes, count: int, timestamp: int, scope: Scope, seen: Seen
) -> Survey:
    """Look at the other records one by one; short varints are read here."""
    record_bytes_max, headers_left = scope.record_bytes_max, scope.items_max - count
    (begin, pos, earliest, latest, lacks_key), has_other_offsets = seen, False
    for at in range(begin, count):
        size = content[pos]
        if size < 128:
            pos += 1
        elif content[pos + 1] < 128:
            size += (content[pos + 1] << 7) - 128
            pos += 2
        else:
            size, pos = _size(content, pos, scope)
        end = pos + (size >> 1)
        if record_bytes_max < UNLIMITED and (size & 1 or size >> 1 > record_bytes_max):
            raise DecodeError(f"the size of a record before byte {pos} is too large")
        delta = content[pos + 1]  # the attributes byte before it is unused
        if delta < 128:
            delta = SHORT_VARINTS[delta]
            pos += 2
        else:
            delta, pos = _time(content, pos + 1, timestamp)
        earliest = delta if delta < earliest else earliest  # noqa: FURB136 - as above
        latest = delta if delta > latest else latest  # noqa: FURB136 - as above
        byte = content[pos]
        if byte < 128:
            pos += 1
        else:
            byte, pos = raw_varint(content, pos, *INT_VARINT)
        if byte != at << 1:
            has_other_offsets = True
        byte = content[pos]
        if byte < 128:
            pos += 1
        else:
            byte, pos = raw_varint(content, pos, *INT_VARINT)
        if byte & 1:
            lacks_key = True
        else:
            pos += byte >> 1
        byte = content[pos]
        if byte < 128:
            pos += 1
        elif content[pos + 1] < 128:
            byte += (content[pos + 1] << 7) - 128
            pos += 2
        else:
            byte, pos = raw_varint(content, pos, *INT_VARINT)
        pos += 0 if byte & 1 else byte >> 1
        if content[pos]:
            pos, headers_left = _headers(content, pos, headers_left)
        else:
            pos += 1
        if (size & 1 or pos != end) and scope.has_sizes:
            raise DecodeError(f"a record before byte {pos} is not as long as it says")
    if pos != len(content):
        raise DecodeError(f"{len(content) - pos} bytes follow the records of a batch")
    return Survey(timestamp + earliest, timestamp + latest, lacks_key, has_other_offsets)


def _size(content: bytes, pos: int, scope: Scope) -> tuple[int, int]:
    """Read the size of a record; what is none keeps a broker from reading on if it counts."""
    try:
        return raw_varint(content, pos, *INT_VARINT)
    except DecodeError as error:
        raise (UnreadableError(str(error)) if scope.has_sizes else error) from error


def _time(content: bytes, pos: int, timestamp: int) -> tuple[int, int]:
    """Read how far a time is from `timestamp`, such that both make a time of 64 bits."""
    raw, pos = raw_varint(content, pos, *LONG_VARINT)
    time = timestamp + ((raw >> 1) ^ -(raw & 1))
    time = (time + (1 << 63)) % (1 << 64) - (1 << 63)
    return time - timestamp, pos


def _headers(content: bytes, pos: int, left: int) -> tuple[int, int]:
    """Look at the headers of a record; return where they end, and how many more there may be."""
    count, pos = raw_varint(content, pos, *INT_VARINT)
    if count & 1 or count >> 1 > len(content) - pos:
        raise DecodeError(f"a record claims a wrong number of headers at byte {pos}")
    left -= count >> 1
    if left < 0:
        raise DecodeError("a batch has too many records and headers")
    for _ in range(count >> 1):
        length, pos = raw_varint(content, pos, *INT_VARINT)
        if length & 1:
            raise DecodeError(f"a record's header has no name at byte {pos}")
        pos += length >> 1
        length, pos = raw_varint(content, pos, *INT_VARINT)
        if not length & 1:
            pos += length >> 1
    return pos, left
