"""Replace producer ids inside record batches of format 2, with new checksums."""

from collections.abc import Callable
from struct import Struct

from crc32c import crc32c

_LENGTH_AT, _MAGIC_AT, _CRC_AT, _CHECKED_AT, _PRODUCER_AT = 8, 16, 17, 21, 43
_HEADER_BYTES = 61
_PRODUCER = Struct(">qh")
_LENGTH = Struct(">i")
_CRC = Struct(">I")


def with_producer(records: bytes, actual: Callable[[int, int], tuple[int, int]]) -> bytes:
    """Return the records with producer id and epoch of each batch replaced by `actual`.

    Anything except whole batches of format 2 is unchanged.
    """
    changed = bytearray(records)
    at = 0
    while at + _HEADER_BYTES <= len(records):
        end = at + _LENGTH_AT + 4 + _LENGTH.unpack_from(records, at + _LENGTH_AT)[0]
        if records[at + _MAGIC_AT] != 2 or not at + _HEADER_BYTES <= end <= len(records):
            break
        old = _PRODUCER.unpack_from(records, at + _PRODUCER_AT)
        new = old if old[0] < 0 else actual(*old)
        if new != old:
            _PRODUCER.pack_into(changed, at + _PRODUCER_AT, *new)
            checksum = crc32c(bytes(changed[at + _CHECKED_AT : end]))
            _CRC.pack_into(changed, at + _CRC_AT, checksum)
        at = end
    return bytes(changed)
