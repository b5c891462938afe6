"""Check runs of uniform records together, one byte column at a time.

The records of a run have the same sizes, no headers, and timestamps and offsets of equally many
bytes. Bytes at one position in all records of a run form a column: a slice with the record size as
its step, which C code compares. In a load tool's batch, a run ends only where an offset or a
timestamp needs another byte.
"""

from typing import NamedTuple

from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.records.record_codec import INT_VARINT, SHORT_VARINTS, read_raw_varint

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
