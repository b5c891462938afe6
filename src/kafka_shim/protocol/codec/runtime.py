"""Functions for generated codecs: varints, rare strings and arrays, tag sections.

Errors are those of a real broker for damaged requests: bytes after the end of a request are
ignored; malformed UTF-8 is replaced as in Java, never rejected; any negative length means null,
which is an error where null is not allowed; a varint keeps its low 32 bits, and one of six bytes is
an error; a string of more than 32767 bytes is an error; the size of a known tagged field is not
checked, and the last value of a repeated field counts.

DEVIATION: repeated and unordered tags are accepted, as by brokers since KAFKA-10818; older releases
reject them, and compact lengths that are negative as a Java int.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from struct import Struct, calcsize
from typing import Any

from kafka_shim.protocol.codec.java_utf8 import decode_like_java
from kafka_shim.protocol.errors import DecodeError, EncodeError

Tags = tuple[tuple[int, bytes], ...]
Pack = Callable[..., bytes]
Unpack = Callable[[bytes, int], tuple[Any, ...]]

BYTE = tuple(bytes((value,)) for value in range(256))
INT8 = tuple(value if value < 128 else value - 256 for value in range(256))
"""The signed value of each byte."""
SMALL = 64
"""Arrays below this length are read with a precompiled Struct."""
STRING_BYTES_MAX = 0x7FFF
SHAPES_MAX = 1024
_SHORTENED = "…".encode()

TAGGED_FIELDS_MAX = 10_000
"""The most fields of a tag section that limited readers accept, as Kafka since 4.2.2."""
ELEMENTS_MAX = 1_000_000
"""The most elements of an array that limited readers accept."""


@cache
def unpackers(code: str) -> tuple[Unpack, ...]:
    """Return readers of 0, 1, ... SMALL - 1 values of one struct code."""
    return tuple(Struct(f">{count}{code}").unpack_from for count in range(SMALL))


# --- reading


def varint(buf: bytes, pos: int) -> tuple[int, int]:
    """Read an unsigned varint of at most 5 bytes; only its low 32 bits count, as in Kafka."""
    value = buf[pos]
    if value < 128:
        return value, pos + 1
    return _long_varint(buf, pos)


def _long_varint(buf: bytes, pos: int) -> tuple[int, int]:
    value = 0
    for shift in (0, 7, 14, 21, 28):
        byte = buf[pos]
        pos += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & 0xFFFFFFFF, pos
    raise DecodeError(f"varint is longer than 5 bytes at byte {pos - 5}")


def null(path: str, pos: int) -> DecodeError:
    return DecodeError(f"`{path}` is null, which is not allowed, at byte {pos}")


def _compact(buf: bytes, pos: int, first: int) -> tuple[int, int]:
    """Read the rest of a compact length after its first byte; -1 is null."""
    if first < 128:
        return first - 1, pos
    second = buf[pos]
    if second < 128:
        return first - 129 + (second << 7), pos + 1
    value, pos = _long_varint(buf, pos - 1)
    # Java's int is negative from 1 << 31 on, hence null; 1 << 31 minus 1 wraps around
    return (-1 if value > 1 << 31 else value - 1), pos


def skip_long(buf: bytes, pos: int, first: int) -> int:
    """Return the position after compact bytes that are null or have a length of several bytes."""
    length, pos = _compact(buf, pos, first)
    return pos + length if length > 0 else pos


def long_nullable_string(buf: bytes, pos: int, first: int, path: str) -> tuple[str | None, int]:
    """Read a compact string that is null, or whose length has more bytes than `first`."""
    length, pos = _compact(buf, pos, first)
    if length < 0:
        return None, pos
    if length > STRING_BYTES_MAX:
        raise DecodeError(f"`{path}` claims {length} bytes, more than a string can have")
    end = pos + length
    return decode_like_java(buf[pos:end]), end


def long_string(buf: bytes, pos: int, first: int, path: str) -> tuple[str, int]:
    value, end = long_nullable_string(buf, pos, first, path)
    if value is None:
        raise null(path, pos)
    return value, end


def long_nullable_bytes(buf: bytes, pos: int, first: int, path: str) -> tuple[bytes | None, int]:
    """Read compact bytes that are null, or whose length has more bytes than `first`."""
    if first > 127 and buf[pos] < 128:  # like the lengths of most batches
        length, pos = first - 129 + (buf[pos] << 7), pos + 1
    else:
        length, pos = _compact(buf, pos, first)
        if length < 0:
            return None, pos
    end = pos + length
    if end > len(buf):
        _see_room(buf, pos, length, 1, path)
    return buf[pos:end], end


def long_bytes(buf: bytes, pos: int, first: int, path: str) -> tuple[bytes, int]:
    value, end = long_nullable_bytes(buf, pos, first, path)
    if value is None:
        raise null(path, pos)
    return value, end


def _see_room(buf: bytes, pos: int, count: int, minimum: int, path: str) -> None:
    """Raise DecodeError for a count that exceeds the bytes left, before memory is allocated."""
    left = max(0, len(buf) - pos)
    if count * minimum > left:
        raise DecodeError(f"`{path}` claims {count} elements where {left} bytes are left")


def wide_count(
    buf: bytes, pos: int, count: int, minimum: int, nullable: bool, path: str
) -> tuple[int, int]:
    """Check that `count` elements of `minimum` bytes are possible; -1 is null."""
    if count < 0 and not nullable:
        raise null(path, pos)
    _see_room(buf, pos, count, minimum, path)
    return max(count, -1), pos


def long_count(
    buf: bytes, pos: int, first: int, minimum: int, nullable: bool, path: str
) -> tuple[int, int]:
    """Read a compact count whose first byte is `first`: the count plus one; 0 is null."""
    count, pos = _compact(buf, pos, first)
    count, pos = wide_count(buf, pos, count, minimum, nullable, path)
    return count + 1, pos


def wide_values(
    buf: bytes, pos: int, count: int, code: str, nullable: bool, path: str
) -> tuple[list[Any] | None, int]:
    """Read `count` numbers or uuids, whatever the count."""
    width = calcsize(f">{code}")
    count, _ = wide_count(buf, pos, count, width, nullable, path)
    if count < 0:
        return None, pos
    end = pos + width * count
    if code == "16s":
        return [buf[at : at + 16] for at in range(pos, end, 16)], end
    return list(Struct(f">{count}{code}").unpack_from(buf, pos)), end


def long_values(
    buf: bytes, pos: int, first: int, code: str, nullable: bool, path: str
) -> tuple[list[Any] | None, int]:
    """Read a compact array of numbers or uuids, whatever its length."""
    count, pos = _compact(buf, pos, first)
    return wide_values(buf, pos, count, code, nullable, path)


def read_tags(buf: bytes, pos: int, count: int) -> tuple[Tags, int]:
    """Read a tag section without known tags; `count` is its first byte, already read."""
    if count > 127:
        count, pos = varint(buf, pos - 1)
    found: list[tuple[int, bytes]] = []
    for _ in range(count):
        tag, pos = varint(buf, pos)
        size, pos = varint(buf, pos)
        end = pos + size
        if end > len(buf):
            raise DecodeError(f"tag {tag} claims {size} bytes where {len(buf) - pos} are left")
        found.append((tag, buf[pos:end]))
        pos = end
    return tuple(found), pos


def skip_tags(buf: bytes, pos: int, count: int) -> int:
    """Return the position after a tag section; `count` is its first byte, already read."""
    return read_tags(buf, pos, count)[1]


def check_tag_count(count: int) -> None:
    """Raise DecodeError for more tagged fields than limited readers accept."""
    if count > TAGGED_FIELDS_MAX:
        raise DecodeError(f"{count} tagged fields are more than {TAGGED_FIELDS_MAX}")


def limited_read_tags(buf: bytes, pos: int, count: int) -> tuple[Tags, int]:
    """Read a tag section as `read_tags` does. Raise DecodeError if it has too many fields."""
    if count > 127:
        check_tag_count(varint(buf, pos - 1)[0])
    return read_tags(buf, pos, count)


def limited_wide_count(
    buf: bytes, pos: int, count: int, minimum: int, nullable: bool, path: str
) -> tuple[int, int]:
    """Check a count as `wide_count` does. Raise DecodeError if it is too large."""
    if count > ELEMENTS_MAX:
        raise DecodeError(f"`{path}` has {count} elements, more than {ELEMENTS_MAX}")
    return wide_count(buf, pos, count, minimum, nullable, path)


def limited_long_count(
    buf: bytes, pos: int, first: int, minimum: int, nullable: bool, path: str
) -> tuple[int, int]:
    """Read a compact count as `long_count` does. Raise DecodeError if it is too large."""
    count, pos = _compact(buf, pos, first)
    count, pos = limited_wide_count(buf, pos, count, minimum, nullable, path)
    return count + 1, pos


def limited_wide_values(
    buf: bytes, pos: int, count: int, code: str, nullable: bool, path: str
) -> tuple[list[Any] | None, int]:
    """Read an array as `wide_values` does. Raise DecodeError if it is too long."""
    limited_wide_count(buf, pos, count, 0, nullable, path)
    return wide_values(buf, pos, count, code, nullable, path)


def limited_long_values(
    buf: bytes, pos: int, first: int, code: str, nullable: bool, path: str
) -> tuple[list[Any] | None, int]:
    """Read a compact array as `long_values` does. Raise DecodeError if it is too long."""
    count, pos = _compact(buf, pos, first)
    return limited_wide_values(buf, pos, count, code, nullable, path)


def damaged(title: str, buf: bytes, pos: int, error: Exception) -> DecodeError:
    """Return the DecodeError for bytes that could not be decoded."""
    if isinstance(error, DecodeError):
        return DecodeError(f"{title}: {error}")
    return DecodeError(f"{title}: {len(buf) - pos} bytes end before the message does")


def too_short(buf: bytes, pos: int) -> DecodeError:
    return DecodeError(f"{pos - len(buf)} bytes are missing at its end")


# --- writing


def varint_bytes(value: int) -> bytes:
    """Write an unsigned varint."""
    if value < 128:
        return BYTE[value]
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def error_text(text: str) -> bytes:
    """Encode an error message, shortened to the maximum length of a string.

    Messages quote values of clients, which can have that length already.
    """
    encoded = text.encode()
    if len(encoded) <= STRING_BYTES_MAX:
        return encoded
    kept = encoded[: STRING_BYTES_MAX - len(_SHORTENED)]
    return kept.decode(errors="ignore").encode() + _SHORTENED


def tag_section(known: Iterable[tuple[int, bytes]], unknown: Tags) -> bytes:
    """Write tagged fields, known and unknown, in the order of their tags."""
    fields = sorted((*known, *unknown), key=lambda field: field[0])
    parts = [varint_bytes(len(fields))]
    previous = -1
    for tag, content in fields:
        if tag <= previous:
            raise EncodeError(f"duplicate tag {tag}")
        previous = tag
        parts += (varint_bytes(tag), varint_bytes(len(content)), content)
    return b"".join(parts)


def with_tags(written: bytes, unknown: Tags) -> bytes:
    """Replace the empty tag section at the end of `written` by unknown tags."""
    return written[:-1] + tag_section((), unknown)


def values(code: str, items: Sequence[Any]) -> bytes:
    """Write numbers of one struct code."""
    return Struct(f">{len(items)}{code}").pack(*items)


def uuids(items: Sequence[bytes], path: str) -> bytes:
    """Write uuids, each of 16 bytes."""
    if any(len(item) != 16 for item in items):
        raise not_a_uuid(path)
    return b"".join(items)


def not_a_uuid(path: str) -> EncodeError:
    return EncodeError(f"`{path}` has a uuid that is not of 16 bytes")


class Shapes(dict[Any, Pack]):
    """Packers of a run with arrays in it, by the lengths of the arrays.

    `template` is a struct format with `B{}` (compact) or `i{}` for each array's count, as in
    `>hB{}iB{}i`: one `pack`, which takes the values of the run in order, writes short arrays.
    """

    def __init__(self, template: str, *, compact: bool) -> None:
        super().__init__()
        self._template = template
        self._compact = compact

    def __missing__(self, key: int | tuple[int, ...]) -> Pack:
        counts = key if isinstance(key, tuple) else (key,)
        if self._compact and max(counts) > 126:
            return self._long(counts)
        pack = Struct(self._template.format(*counts)).pack
        if len(self) < SHAPES_MAX and max(counts) < SMALL:
            self[key] = pack
        return pack

    def _long(self, counts: Sequence[int]) -> Pack:
        """Return a packer for counts of more than one byte."""
        head, *parts = self._template.split("B{}")
        bodies = [f"{count}{part}" for count, part in zip(counts, parts, strict=True)]
        codes = [head, *(f">{body}" for body in bodies)]

        def pack(*values: Any) -> bytes:
            out, at = [], 0
            for index, code in enumerate(codes):
                if index:
                    out.append(varint_bytes(values[at]))
                    at += 1
                step = Struct(code)
                taken = len(step.unpack(bytes(step.size)))
                out.append(step.pack(*values[at : at + taken]))
                at += taken
            return b"".join(out)

        return pack


def absent(path: str, version: int) -> EncodeError:
    return EncodeError(f"`{path}` is not the default, but version {version} cannot carry it")


def unwritable(title: str, error: Exception) -> EncodeError:
    """Return the EncodeError for a message that could not be written."""
    return EncodeError(f"{title}: {error}")
