"""Validates the records of a batch of format 2 in one pass, without decoding them to objects.

A broker does this before it stores a batch: it checks the format of the records, and finds their
smallest and largest base_timestamp, missing keys, and gaps between offsets.

Runs of uniform records are checked together, one byte column at a time. The records of a run have
the same sizes, no headers, and timestamps and offsets of equally many bytes. Bytes at one position
in all records of a run form a column: a slice with the record size as its step, which C code
compares. In a load tool's batch, a run ends only where an offset or a timestamp needs another byte.
"""

import sys
from typing import NamedTuple

import msgspec

from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.records.record_codec import (
    INT_VARINT,
    LONG_VARINT,
    SHORT_VARINTS,
    read_raw_varint,
    wrap_int64,
)

TIMESTAMP_DELTA_LIMIT = 1 << 65
"""Larger than any difference between two timestamps."""
RUN_RECORDS_MIN = 16
"""From this number of records on, checking them together is faster than one by one, also in a
broker that has done something else since the last batch.
"""
_RUNS_MAX = 4
"""Give up after this many runs, plus one for each 16 records that they had."""
_TWO_BYTE_OFFSETS_END = 1 << 13
_THREE_BYTE_OFFSETS_END = 1 << 20
_ONE_BYTE_OFFSETS = bytes(range(0, 128, 2))
"""Offsets 0 to 63 as varints."""
_FIRST_BYTES = bytes(range(128, 256, 2)) * 128
"""First bytes of longer offsets. They repeat every 64 offsets, the second bytes every 8192."""
_LAST_SECOND_BYTES = b"".join(bytes((byte,)) * 64 for byte in range(128))
_CONTINUED_SECOND_BYTES = b"".join(bytes((byte,)) * 64 for byte in range(128, 256))
_CONTINUED_BYTES = bytes(range(128, 256))
"""Bytes that are followed by another one of the same varint."""
WRAPPING_TIMESTAMP = 1 << 62
"""A sum with a base timestamp from here on may wrap around 64 bits, even for a short delta."""


class CheckedUniformRuns(NamedTuple):
    """The first records of a batch, as far as they form uniform runs."""

    record_count: int
    end: int
    """The position after them."""
    earliest_timestamp_delta: int
    latest_timestamp_delta: int
    lacks_some_key: bool


class _RecordShape(NamedTuple):
    """What the records of a run have in common; positions are those in its first record."""

    size: int
    constant_positions: list[int]
    """Positions of the bytes that must be the same in all records: lengths and header count."""
    timestamp_position: int
    offset_position: int
    has_key: bool


def check_leading_uniform_runs(
    content: bytes, start: int, record_count: int, base_timestamp: int, record_bytes_max: int
) -> CheckedUniformRuns:
    """Check the first records, as far as they form runs and have offsets 0, 1, 2 ...

    `record_count` records begin at `start`, and `base_timestamp` is that of their batch. The check
    ends before a record that claims more than `record_bytes_max` bytes, or that is not in a run:
    it and all later ones may have any form, or be damaged.
    """
    checked, pos, lacks_some_key = 0, start, False
    earliest, latest = TIMESTAMP_DELTA_LIMIT, -TIMESTAMP_DELTA_LIMIT
    runs = 0
    while record_count - checked >= RUN_RECORDS_MIN and runs <= _RUNS_MAX + (checked >> 4):
        try:
            shape = _read_run_shape(content, pos, checked, record_bytes_max)
        except (IndexError, DecodeError):
            break
        if shape is None:
            break
        number = _count_consecutive_records_of_shape(content, record_count, pos, checked, shape)
        size, _, timestamp_position, offset_position, has_key = shape
        end = pos + number * size
        first_bytes, second_bytes = content[timestamp_position:end:size], None
        if offset_position - timestamp_position == 2:
            second_bytes = content[timestamp_position + 1 : end : size]
        deltas = _distinct_timestamp_deltas(first_bytes, second_bytes, base_timestamp)
        if not deltas:
            break
        earliest, latest = min(earliest, *deltas), max(latest, *deltas)
        lacks_some_key = lacks_some_key or not has_key
        checked, pos, runs = checked + number, end, runs + 1
    return CheckedUniformRuns(checked, pos, earliest, latest, lacks_some_key)


def _read_run_shape(
    content: bytes, pos: int, record_index: int, record_bytes_max: int
) -> _RecordShape | None:
    """Return the shape of record number `record_index`, which begins at `pos`.

    None if the fast check does not support it: it has headers, is too large or damaged, or the next
    record has another size. Raise IndexError or DecodeError if the content ends in it.
    """
    length, body = content[pos], pos + 1
    if length > 127:
        length, body = read_raw_varint(content, pos, *INT_VARINT)
    end = body + (length >> 1)
    if content[pos:body] != content[end : end + body - pos]:  # sizes differ: no run begins here
        return None
    timestamp_position = body + 1  # the attributes byte before it is unused
    offset_position = timestamp_position + (1 if content[timestamp_position] < 128 else 2)
    key_at = offset_position + (
        1 if record_index < 64 else 2 if record_index < _TWO_BYTE_OFFSETS_END else 3
    )
    key, key_end = content[key_at], key_at + 1
    if key > 127:
        key, key_end = read_raw_varint(content, key_at, *INT_VARINT)
    value_at = key_end if key & 1 else key_end + (key >> 1)
    value, value_end = read_raw_varint(content, value_at, *INT_VARINT)
    headers_at = value_end if value & 1 else value_end + (value >> 1)
    is_too_long = length & 1 or end - body > record_bytes_max
    if is_too_long or headers_at + 1 != end or content[headers_at]:
        return None
    constant_positions = [
        *range(pos, body),
        *range(key_at, key_end),
        *range(value_at, value_end),
        headers_at,
    ]
    return _RecordShape(
        end - pos, constant_positions, timestamp_position, offset_position, not key & 1
    )


def _count_consecutive_records_of_shape(
    content: bytes, record_count: int, pos: int, record_index: int, shape: _RecordShape
) -> int:
    """Count consecutive records of a shape, from record number `record_index` at `pos` on.

    Return 0 if their offsets are not consecutive.
    """
    if record_index >= _THREE_BYTE_OFFSETS_END:
        return 0
    size, constant_positions, _, offset_position, _ = shape
    block_end = (
        64 if record_index < 64 else (record_index & -_TWO_BYTE_OFFSETS_END) + _TWO_BYTE_OFFSETS_END
    )
    number = min(min(record_count, block_end) - record_index, (len(content) - pos) // size)
    end = pos + number * size
    for at in constant_positions:
        column = content[at:end:size]
        if column.count(content[at]) != number:
            number -= len(column.lstrip(column[:1]))
            end = pos + number * size
    for at, expected in enumerate(
        _same_length_offset_varints_by_column(record_index), offset_position
    ):
        if content[at:end:size] != expected[:number]:
            return 0
    return number


def _same_length_offset_varints_by_column(first_record_index: int) -> tuple[bytes, ...]:
    """Return the expected varints of the offsets from `record_index` on, by byte column.

    The columns end before the first offset whose varint is longer.
    """
    if first_record_index < 64:
        return (_ONE_BYTE_OFFSETS[first_record_index:],)
    in_block, block = first_record_index & (_TWO_BYTE_OFFSETS_END - 1), first_record_index >> 13
    if not block:
        return _FIRST_BYTES[in_block:], _LAST_SECOND_BYTES[in_block:]
    third_bytes = bytes((block,)) * (_TWO_BYTE_OFFSETS_END - in_block)
    return _FIRST_BYTES[in_block:], _CONTINUED_SECOND_BYTES[in_block:], third_bytes


def _distinct_timestamp_deltas(
    first_varint_bytes: bytes, second_varint_bytes: bytes | None, base_timestamp: int
) -> list[int]:
    """Return the different timestamp deltas of a run, from the columns of their varints.

    Empty if not all varints have one byte (two, if there are second bytes), or if a sum with the
    base timestamp may wrap around.
    """
    if not -WRAPPING_TIMESTAMP < base_timestamp < WRAPPING_TIMESTAMP:
        return []
    if second_varint_bytes is None:
        return (
            [SHORT_VARINTS[byte] for byte in set(first_varint_bytes)]
            if first_varint_bytes.isascii()
            else []
        )
    if first_varint_bytes.translate(None, _CONTINUED_BYTES) or not second_varint_bytes.isascii():
        return []
    pairs = set(zip(second_varint_bytes, first_varint_bytes, strict=True))
    raws = {(second << 7) + first - 128 for second, first in pairs}
    return [(raw >> 1) ^ -(raw & 1) for raw in raws]


UNLIMITED = sys.maxsize
_Runs = tuple[int, int, int, int, bool]
"""A `CheckedUniformRuns`, or its values, since a named tuple takes long to make."""


class RecordsSummary(msgspec.Struct, frozen=True, gc=False):
    """Properties of the records of a batch.

    Timestamps are milliseconds since 1970. `lacks_some_key`: at least one record has no key.
    `has_nonconsecutive_offsets`: the offset deltas of the records are not 0, 1, 2 and so on.
    """

    earliest_timestamp: int
    latest_timestamp: int
    lacks_some_key: bool
    has_nonconsecutive_offsets: bool = False


class RecordChecks(msgspec.Struct, frozen=True, gc=False):
    """What `validate_records` checks.

    `checks_record_sizes`: each record must have the length in its size field.
    """

    checks_record_sizes: bool = True
    records_and_headers_max: int = UNLIMITED
    """Maximum number of records and headers together."""
    record_bytes_max: int = UNLIMITED
    """Maximum of a record's size field; with a limit, negative sizes are invalid too."""


ALL_CHECKS = RecordChecks()


class UnreadableRecordsError(DecodeError):
    """Damage that stops a broker from reading further, such as damaged compressed content."""


def validate_records(
    content: bytes,
    count: int,
    base_timestamp: int,
    checks: RecordChecks = ALL_CHECKS,
    damage: str | None = None,
    start: int = 0,
) -> RecordsSummary:
    """Check `count` records in `content` from `start` to its end; return their properties.

    `base_timestamp` is the base timestamp of the batch. `damage` is the error that cut the content
    short, e.g. in decompression, or None. Raise DecodeError if the number of records is wrong, a
    record is invalid, or a limit of `checks` is exceeded. Raise UnreadableRecordsError for `damage`
    if the records before it are valid.
    """
    if not 0 < count <= checks.records_and_headers_max:
        raise DecodeError(f"a batch claims {count} records")
    runs: _Runs = (0, start, TIMESTAMP_DELTA_LIMIT, -TIMESTAMP_DELTA_LIMIT, False)
    if count >= RUN_RECORDS_MIN:
        runs = check_leading_uniform_runs(
            content, start, count, base_timestamp, checks.record_bytes_max
        )
    try:
        summary = _validate_remaining_records(content, count, base_timestamp, checks, runs)
    except IndexError as error:
        early = DecodeError("a batch ends before its records do")
        raise early if damage is None else UnreadableRecordsError(damage) from error
    if damage is not None:
        raise UnreadableRecordsError(damage)
    return summary


def _validate_remaining_records(  # noqa: PLR0912 - inlined: calls would dominate its time
    content: bytes, count: int, base_timestamp: int, checks: RecordChecks, runs: _Runs
) -> RecordsSummary:
    """Check the remaining records one by one; varints of one or two bytes are decoded inline."""
    record_bytes_max, headers_left = checks.record_bytes_max, checks.records_and_headers_max - count
    (begin, pos, earliest, latest, lacks_key), has_gaps = runs, False
    inline_below = 128 if -WRAPPING_TIMESTAMP < base_timestamp < WRAPPING_TIMESTAMP else 0
    for at in range(begin, count):
        size = content[pos]
        if size < 128:
            pos += 1
        elif content[pos + 1] < 128:
            size += (content[pos + 1] << 7) - 128
            pos += 2
        else:
            size, pos = _read_raw_record_size(content, pos, checks)
        end = pos + (size >> 1)
        if record_bytes_max < UNLIMITED and (size & 1 or size >> 1 > record_bytes_max):
            raise DecodeError(f"the size of a record before byte {pos} is too large")
        delta = content[pos + 1]  # after the unused attributes byte
        if delta < inline_below:
            delta = SHORT_VARINTS[delta]
            pos += 2
        else:
            delta, pos = _read_wrapping_timestamp_delta(content, pos + 1, base_timestamp)
        earliest = delta if delta < earliest else earliest  # noqa: FURB136 - as above
        latest = delta if delta > latest else latest  # noqa: FURB136 - as above
        byte = content[pos]
        if byte < 128:
            pos += 1
        else:
            byte, pos = read_raw_varint(content, pos, *INT_VARINT)
        has_gaps = has_gaps or byte != at << 1
        byte = content[pos]
        if byte < 128:
            pos += 1
        else:
            byte, pos = read_raw_varint(content, pos, *INT_VARINT)
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
            byte, pos = read_raw_varint(content, pos, *INT_VARINT)
        pos += 0 if byte & 1 else byte >> 1
        if content[pos]:
            pos, headers_left = _skip_headers_within_limit(content, pos, headers_left)
        else:
            pos += 1
        if (size & 1 or pos != end) and checks.checks_record_sizes:
            raise DecodeError(f"a record before byte {pos} is not as long as it says")
    if pos != len(content):
        raise DecodeError(f"{len(content) - pos} bytes follow the records of a batch")
    return RecordsSummary(base_timestamp + earliest, base_timestamp + latest, lacks_key, has_gaps)


def _read_raw_record_size(content: bytes, pos: int, checks: RecordChecks) -> tuple[int, int]:
    """Read a record's size. Raise UnreadableRecordsError if invalid and sizes are checked."""
    try:
        return read_raw_varint(content, pos, *INT_VARINT)
    except DecodeError as error:
        raise (
            UnreadableRecordsError(str(error)) if checks.checks_record_sizes else error
        ) from error


def _read_wrapping_timestamp_delta(
    content: bytes, pos: int, base_timestamp: int
) -> tuple[int, int]:
    """Read a timestamp delta, adjusted so that its sum with `base_timestamp` wraps at 64 bits."""
    raw, pos = read_raw_varint(content, pos, *LONG_VARINT)
    time = wrap_int64(base_timestamp + ((raw >> 1) ^ -(raw & 1)))
    return time - base_timestamp, pos


def _skip_headers_within_limit(content: bytes, pos: int, headers_permitted: int) -> tuple[int, int]:
    """Check the headers of a record; return their end, and how many more the limit permits."""
    count, pos = read_raw_varint(content, pos, *INT_VARINT)
    if count & 1 or count >> 1 > len(content) - pos:
        raise DecodeError(f"a record claims a wrong number of headers at byte {pos}")
    headers_permitted -= count >> 1
    if headers_permitted < 0:
        raise DecodeError("a batch has too many records and headers")
    for _ in range(count >> 1):
        length, pos = read_raw_varint(content, pos, *INT_VARINT)
        if length & 1:
            raise DecodeError(f"a record's header has no name at byte {pos}")
        pos += length >> 1
        length, pos = read_raw_varint(content, pos, *INT_VARINT)
        if not length & 1:
            pos += length >> 1
    return pos, headers_permitted
