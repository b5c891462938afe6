"""Converts LZ4 in messages of format 0, whose frame headers have a wrong checksum (KAFKA-3160).

Old clients computed it over the frame's magic number too, and brokers still write it like this for
them. LZ4 libraries reject it, so it is corrected before reading and falsified after writing.
"""

_MAGIC_BYTES = 4
_HEADER_BYTES_MAX = 15
_CONTENT_SIZE_FLAG = 0x08
_PRIMES = (2654435761, 2246822519, 3266489917, 668265263, 374761393)
_MASK = 0xFFFFFFFF


def with_correct_header_checksum(frame: bytes) -> bytes:
    """Return an LZ4 frame with the correct checksum; invalid data is returned unchanged."""
    return _replace_header_checksum(frame, _MAGIC_BYTES)


def with_format_0_header_checksum(frame: bytes) -> bytes:
    """Return an LZ4 frame with the checksum that clients of format 0 expect."""
    return _replace_header_checksum(frame, 0)


def _replace_header_checksum(frame: bytes, covered_from: int) -> bytes:
    if len(frame) < _HEADER_BYTES_MAX:
        return frame
    has_size = bool(frame[_MAGIC_BYTES] & _CONTENT_SIZE_FLAG)
    at = _MAGIC_BYTES + 2 + (8 if has_size else 0)
    checksum = _xxh32_of_short_data(frame[covered_from:at]) >> 8 & 255
    return frame[:at] + bytes([checksum]) + frame[at + 1 :]


def _xxh32_of_short_data(data: bytes) -> int:
    """Return xxHash32 of less than 16 bytes."""
    assert len(data) < 16
    prime_1, prime_2, prime_3, prime_4, prime_5 = _PRIMES
    value = prime_5 + len(data)
    whole = len(data) // 4 * 4
    for at in range(0, whole, 4):
        lane = int.from_bytes(data[at : at + 4], "little")
        value = _rotate_left(value + lane * prime_3, 17) * prime_4 & _MASK
    for byte in data[whole:]:
        value = _rotate_left(value + byte * prime_5, 11) * prime_1 & _MASK
    value = (value ^ value >> 15) * prime_2 & _MASK
    value = (value ^ value >> 13) * prime_3 & _MASK
    return value ^ value >> 16


def _rotate_left(value: int, bits: int) -> int:
    value &= _MASK
    return (value << bits | value >> 32 - bits) & _MASK
