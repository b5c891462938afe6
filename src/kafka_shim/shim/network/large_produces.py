"""Produce requests that are long, but soon appended: they are handled in one time slice.

Such a request has a few partitions, with an uncompressed batch each. Records of one shape are
looked at fast, however long they are; others may have headers, of which each takes its time.
"""

from struct import Struct, error as struct_error

from kafka_shim.protocol.codec.runtime import read_unsigned_varint
from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.records.batches import HEADER_BYTES
from kafka_shim.protocol.records.uniform_runs import check_leading_uniform_runs

PARTITIONS_MAX = 16
RECORDS_MAX = 10_000
OTHERS_MAX = 64 * 1024
"""Bytes of records that may have any shape: they take at most 15 ms."""
BYTES_MAX = 4 * 1024 * 1024
_FORMAT_2_SINCE, _FLEXIBLE_SINCE, _IDS_SINCE = 3, 9, 13
_CLIENT_ID_AT, _ACKS_AND_TIMEOUT_BYTES, _UUID_BYTES, _INDEX_BYTES = 8, 6, 16, 4
_SHORT, _LONG = Struct(">h"), Struct(">i")
_BATCH = Struct(">8xi4xb4xh4xq22xi")  # length, format, attributes, base timestamp, count
_BEFORE_LENGTH = 12
_COMPRESSION = 0x07


def is_quickly_appended(frame: bytes) -> bool:
    """Return whether a Produce request surely takes a few ms only."""
    if len(frame) > BYTES_MAX:
        return False
    try:
        partitions = record_ranges_unless_unusual(frame)
        return partitions is not None and _are_quickly_validated(frame, partitions)
    except (IndexError, struct_error, DecodeError):
        return False


def _are_quickly_validated(frame: bytes, record_ranges: list[tuple[int, int]]) -> bool:
    all_records, others = 0, 0
    for start, end in record_ranges:
        length, magic, attributes, timestamp, count = _BATCH.unpack_from(frame, start)
        if magic != 2 or attributes & _COMPRESSION or start + _BEFORE_LENGTH + length != end:
            return False
        all_records += max(0, count)
        begin = start + HEADER_BYTES
        if len(frame) > OTHERS_MAX and all_records <= RECORDS_MAX:
            begin = check_leading_uniform_runs(frame, begin, count, timestamp, len(frame))[1]
        others += max(0, end - begin)
    return all_records <= RECORDS_MAX and others <= OTHERS_MAX


def record_ranges_unless_unusual(frame: bytes) -> list[tuple[int, int]] | None:
    """Return where the records of each partition begin and end.

    None if the partitions are many or unusual: unknown tagged fields, null arrays, an old version.
    """
    (version,) = _SHORT.unpack_from(frame, 2)
    if version < _FORMAT_2_SINCE:
        return None
    place = _FrameReader(frame, is_flexible=version >= _FLEXIBLE_SINCE)
    place.pos = _CLIENT_ID_AT + _SHORT.size + max(0, *_SHORT.unpack_from(frame, _CLIENT_ID_AT))
    place.mark_unusual_if_tagged()
    place.skip_string()
    place.pos += _ACKS_AND_TIMEOUT_BYTES
    found: list[tuple[int, int]] = []
    for _ in range(place.read_length()):
        if version < _IDS_SINCE:
            place.skip_string()
        else:
            place.pos += _UUID_BYTES
        for _ in range(place.read_length()):
            place.pos += _INDEX_BYTES
            size = place.read_length()
            found.append((place.pos, place.pos + size))
            place.pos += size
            place.mark_unusual_if_tagged()
            if len(found) > PARTITIONS_MAX:
                return None
        place.mark_unusual_if_tagged()
    place.mark_unusual_if_tagged()
    return found if place.pos == len(frame) and not place.is_unusual else None


class _FrameReader:
    """A place in a frame from which it is read."""

    def __init__(self, frame: bytes, *, is_flexible: bool) -> None:
        self.pos = 0
        self.is_unusual = False
        self._frame = frame
        self._is_flexible = is_flexible

    def read_length(self) -> int:
        """Read the length of an array or of bytes; null counts as 0."""
        if self._is_flexible:
            length, self.pos = read_unsigned_varint(self._frame, self.pos)
            return max(0, length - 1)
        size: int = _LONG.unpack_from(self._frame, self.pos)[0]
        self.pos += _LONG.size
        return max(0, size)

    def skip_string(self) -> None:
        if self._is_flexible:
            length = self.read_length()
            self.pos += length
        else:
            self.pos += _SHORT.size + max(0, *_SHORT.unpack_from(self._frame, self.pos))

    def mark_unusual_if_tagged(self) -> None:
        """Read the number of tagged fields after other fields."""
        if self._is_flexible:
            self.is_unusual = self.is_unusual or self._frame[self.pos] != 0
            self.pos += 1
