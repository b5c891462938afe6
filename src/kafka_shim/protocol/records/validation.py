"""Validates the records of a batch of format 2 in one pass, without decoding them to objects.

A broker does this before it stores a batch: it checks the format of the records, and finds their
smallest and largest base_timestamp, missing keys, and gaps between offsets.
"""

import sys

import msgspec

from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.records.record_codec import (
    INT_VARINT,
    LONG_VARINT,
    SHORT_VARINTS,
    read_raw_varint,
    wrap_int64,
)
from kafka_shim.protocol.records.uniform_runs import (
    RUN_RECORDS_MIN,
    TIMESTAMP_DELTA_LIMIT,
    WRAPPING_TIMESTAMP,
    check_leading_uniform_runs,
)

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
