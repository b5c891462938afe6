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
_TWO_BYTES = Struct("BB")
INT8 = tuple(value if value < 128 else value - 256 for value in range(256))
"""The signed value of each byte."""
SHORT_ARRAY_LENGTH = 64
"""Arrays below this length are read with a precompiled Struct."""
STRING_BYTES_MAX = 0x7FFF
PACKERS_MAX = 1024
_ELLIPSIS = "…".encode()

TAGGED_FIELDS_MAX = 10_000
"""The most fields of a tag section that limited readers accept, as Kafka since 4.2.2."""
ELEMENTS_MAX = 1_000_000
"""The most elements of an array that limited readers accept."""


@cache
def fixed_count_unpackers(struct_code: str) -> tuple[Unpack, ...]:
    """Return readers of 0, 1, ... SHORT_ARRAY_LENGTH - 1 values of one struct code."""
    return tuple(
        Struct(f">{count}{struct_code}").unpack_from for count in range(SHORT_ARRAY_LENGTH)
    )


# --- reading


def read_unsigned_varint(buf: bytes, pos: int) -> tuple[int, int]:
    """Read an unsigned varint of at most 5 bytes; only its low 32 bits count, as in Kafka."""
    value = buf[pos]
    if value < 128:
        return value, pos + 1
    return _read_multibyte_varint(buf, pos)


def _read_multibyte_varint(buf: bytes, pos: int) -> tuple[int, int]:
    value = 0
    for shift in (0, 7, 14, 21, 28):
        byte = buf[pos]
        pos += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & 0xFFFFFFFF, pos
    raise DecodeError(f"varint is longer than 5 bytes at byte {pos - 5}")


def null_not_allowed_error(field_name: str, pos: int) -> DecodeError:
    return DecodeError(f"`{field_name}` is null, which is not allowed, at byte {pos}")


def _read_rest_of_compact_length(buf: bytes, pos: int, first_byte: int) -> tuple[int, int]:
    """Read the rest of a compact length after its first byte; -1 is null."""
    if first_byte < 128:
        return first_byte - 1, pos
    second = buf[pos]
    if second < 128:
        return first_byte - 129 + (second << 7), pos + 1
    value, pos = _read_multibyte_varint(buf, pos - 1)
    # Java's int is negative from 1 << 31 on, hence null; 1 << 31 minus 1 wraps around
    return (-1 if value > 1 << 31 else value - 1), pos


def skip_compact_bytes(buf: bytes, pos: int, first_byte: int) -> int:
    """Return the position after compact bytes that are null or have a length of several bytes."""
    length, pos = _read_rest_of_compact_length(buf, pos, first_byte)
    return pos + length if length > 0 else pos


def read_compact_nullable_string(
    buf: bytes, pos: int, first_byte: int, field_name: str
) -> tuple[str | None, int]:
    """Read a compact string that is null, or whose length has more bytes than `first_byte`."""
    length, pos = _read_rest_of_compact_length(buf, pos, first_byte)
    if length < 0:
        return None, pos
    if length > STRING_BYTES_MAX:
        raise DecodeError(f"`{field_name}` claims {length} bytes, more than a string can have")
    end = pos + length
    return decode_like_java(buf[pos:end]), end


def read_compact_string(buf: bytes, pos: int, first_byte: int, field_name: str) -> tuple[str, int]:
    value, end = read_compact_nullable_string(buf, pos, first_byte, field_name)
    if value is None:
        raise null_not_allowed_error(field_name, pos)
    return value, end


def read_compact_nullable_bytes(
    buf: bytes, pos: int, first_byte: int, field_name: str
) -> tuple[bytes | None, int]:
    """Read compact bytes that are null, or whose length has more bytes than `first_byte`."""
    if first_byte > 127 and buf[pos] < 128:  # like the lengths of most batches
        length, pos = first_byte - 129 + (buf[pos] << 7), pos + 1
    else:
        length, pos = _read_rest_of_compact_length(buf, pos, first_byte)
        if length < 0:
            return None, pos
    end = pos + length
    if end > len(buf):
        _check_element_count(buf, pos, length, 1, field_name)
    return buf[pos:end], end


def read_compact_bytes(buf: bytes, pos: int, first_byte: int, field_name: str) -> tuple[bytes, int]:
    value, end = read_compact_nullable_bytes(buf, pos, first_byte, field_name)
    if value is None:
        raise null_not_allowed_error(field_name, pos)
    return value, end


def _check_element_count(
    buf: bytes, pos: int, count: int, min_element_bytes: int, field_name: str
) -> None:
    """Raise DecodeError for a count that exceeds the bytes left, before memory is allocated."""
    left = max(0, len(buf) - pos)
    if count * min_element_bytes > left:
        raise DecodeError(f"`{field_name}` claims {count} elements where {left} bytes are left")


def check_int32_count(
    buf: bytes, pos: int, count: int, min_element_bytes: int, nullable: bool, field_name: str
) -> tuple[int, int]:
    """Check that `count` elements of `min_element_bytes` bytes are possible; -1 is null."""
    if count < 0 and not nullable:
        raise null_not_allowed_error(field_name, pos)
    _check_element_count(buf, pos, count, min_element_bytes, field_name)
    return max(count, -1), pos


def read_compact_count_plus_one(
    buf: bytes, pos: int, first_byte: int, min_element_bytes: int, nullable: bool, field_name: str
) -> tuple[int, int]:
    """Read a compact count whose first byte is `first_byte`: the count plus one; 0 is null."""
    count, pos = _read_rest_of_compact_length(buf, pos, first_byte)
    count, pos = check_int32_count(buf, pos, count, min_element_bytes, nullable, field_name)
    return count + 1, pos


def read_number_array(
    buf: bytes, pos: int, count: int, struct_code: str, nullable: bool, field_name: str
) -> tuple[list[Any] | None, int]:
    """Read `count` numbers or uuids, for any count."""
    width = calcsize(f">{struct_code}")
    count, _ = check_int32_count(buf, pos, count, width, nullable, field_name)
    if count < 0:
        return None, pos
    end = pos + width * count
    if struct_code == "16s":
        return [buf[at : at + 16] for at in range(pos, end, 16)], end
    return list(Struct(f">{count}{struct_code}").unpack_from(buf, pos)), end


def read_compact_number_array(
    buf: bytes, pos: int, first_byte: int, struct_code: str, nullable: bool, field_name: str
) -> tuple[list[Any] | None, int]:
    """Read a compact array of numbers or uuids, of any length."""
    count, pos = _read_rest_of_compact_length(buf, pos, first_byte)
    return read_number_array(buf, pos, count, struct_code, nullable, field_name)


def read_tags(buf: bytes, pos: int, first_byte: int) -> tuple[Tags, int]:
    """Read a tag section without known tags, whose first byte is already read."""
    count = first_byte
    if count > 127:
        count, pos = read_unsigned_varint(buf, pos - 1)
    tags: list[tuple[int, bytes]] = []
    for _ in range(count):
        tag, pos = read_unsigned_varint(buf, pos)
        size, pos = read_unsigned_varint(buf, pos)
        end = pos + size
        if end > len(buf):
            raise DecodeError(f"tag {tag} claims {size} bytes where {len(buf) - pos} are left")
        tags.append((tag, buf[pos:end]))
        pos = end
    return tuple(tags), pos


def skip_tags(buf: bytes, pos: int, first_byte: int) -> int:
    """Return the position after a tag section, whose first byte is already read."""
    return read_tags(buf, pos, first_byte)[1]


def check_tag_count(count: int) -> None:
    """Raise DecodeError for more tagged fields than limited readers accept."""
    if count > TAGGED_FIELDS_MAX:
        raise DecodeError(f"{count} tagged fields are more than {TAGGED_FIELDS_MAX}")


def read_tags_within_limit(buf: bytes, pos: int, first_byte: int) -> tuple[Tags, int]:
    """Read a tag section as `read_tags` does. Raise DecodeError if it has too many fields."""
    if first_byte > 127:
        check_tag_count(read_unsigned_varint(buf, pos - 1)[0])
    return read_tags(buf, pos, first_byte)


def check_int32_count_within_limit(
    buf: bytes, pos: int, count: int, min_element_bytes: int, nullable: bool, field_name: str
) -> tuple[int, int]:
    """Check a count as `check_int32_count` does. Raise DecodeError if it is too large."""
    if count > ELEMENTS_MAX:
        raise DecodeError(f"`{field_name}` has {count} elements, more than {ELEMENTS_MAX}")
    return check_int32_count(buf, pos, count, min_element_bytes, nullable, field_name)


def read_compact_count_plus_one_within_limit(
    buf: bytes, pos: int, first_byte: int, min_element_bytes: int, nullable: bool, field_name: str
) -> tuple[int, int]:
    """Read a count as `read_compact_count_plus_one` does. Raise DecodeError if it is too large."""
    count, pos = _read_rest_of_compact_length(buf, pos, first_byte)
    count, pos = check_int32_count_within_limit(
        buf, pos, count, min_element_bytes, nullable, field_name
    )
    return count + 1, pos


def read_number_array_within_limit(
    buf: bytes, pos: int, count: int, struct_code: str, nullable: bool, field_name: str
) -> tuple[list[Any] | None, int]:
    """Read an array as `read_number_array` does. Raise DecodeError if it is too long."""
    check_int32_count_within_limit(buf, pos, count, 0, nullable, field_name)
    return read_number_array(buf, pos, count, struct_code, nullable, field_name)


def read_compact_number_array_within_limit(
    buf: bytes, pos: int, first_byte: int, struct_code: str, nullable: bool, field_name: str
) -> tuple[list[Any] | None, int]:
    """Read an array as `read_compact_number_array` does. Raise DecodeError if too long."""
    count, pos = _read_rest_of_compact_length(buf, pos, first_byte)
    return read_number_array_within_limit(buf, pos, count, struct_code, nullable, field_name)


def undecodable_message_error(
    message_with_version: str, buf: bytes, pos: int, error: Exception
) -> DecodeError:
    """Return the DecodeError for bytes that could not be decoded."""
    if isinstance(error, DecodeError):
        return DecodeError(f"{message_with_version}: {error}")
    return DecodeError(
        f"{message_with_version}: {len(buf) - pos} bytes end before the message does"
    )


def missing_bytes_error(buf: bytes, wanted_end: int) -> DecodeError:
    return DecodeError(f"{wanted_end - len(buf)} bytes are missing at its end")


# --- writing


def encode_unsigned_varint(value: int) -> bytes:
    """Write an unsigned varint."""
    if value < 128:
        return BYTE[value]
    if value < 1 << 14:  # like the lengths of most batches
        return _TWO_BYTES.pack(value & 127 | 128, value >> 7)
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode_error_message_cut_with_ellipsis(text: str) -> bytes:
    """Encode an error message, shortened to the maximum length of a string.

    Messages quote values of clients, which can have that length already.
    """
    encoded = text.encode()
    if len(encoded) <= STRING_BYTES_MAX:
        return encoded
    beginning = encoded[: STRING_BYTES_MAX - len(_ELLIPSIS)]
    return beginning.decode(errors="ignore").encode() + _ELLIPSIS


def encode_tag_section(known_fields: Iterable[tuple[int, bytes]], unknown_tags: Tags) -> bytes:
    """Encode tagged fields in the order of their tags. Raise EncodeError if a tag is repeated."""
    fields = sorted((*known_fields, *unknown_tags), key=lambda field: field[0])
    chunks = [encode_unsigned_varint(len(fields))]
    previous = -1
    for tag, content in fields:
        if tag <= previous:
            raise EncodeError(f"duplicate tag {tag}")
        previous = tag
        chunks += (encode_unsigned_varint(tag), encode_unsigned_varint(len(content)), content)
    return b"".join(chunks)


def replace_empty_tag_section(encoded: bytes, unknown_tags: Tags) -> bytes:
    """Replace the empty tag section at the end of `encoded` by unknown tags."""
    return encoded[:-1] + encode_tag_section((), unknown_tags)


def encode_numbers(struct_code: str, numbers: Sequence[Any]) -> bytes:
    """Write numbers of one struct code."""
    return Struct(f">{len(numbers)}{struct_code}").pack(*numbers)


def encode_uuids(uuids: Sequence[bytes], field_name: str) -> bytes:
    """Join uuids. Raise EncodeError if one is not of 16 bytes."""
    if any(len(uuid) != 16 for uuid in uuids):
        raise uuid_length_error(field_name)
    return b"".join(uuids)


def uuid_length_error(field_name: str) -> EncodeError:
    return EncodeError(f"`{field_name}` has a uuid that is not of 16 bytes")


class PackersByArrayLengths(dict[Any, Pack]):
    """Packers of a run with arrays in it, by the lengths of the arrays.

    `template` is a struct format with `B{}` (compact) or `i{}` for each array's count, as in
    `>hB{}iB{}i`: one `pack`, which takes the values of the run in order, writes short arrays.
    """

    def __init__(self, template: str, *, compact: bool) -> None:
        super().__init__()
        self._template = template
        self._is_compact = compact

    def __missing__(self, key: int | tuple[int, ...]) -> Pack:
        counts = key if isinstance(key, tuple) else (key,)
        if self._is_compact and max(counts) > 126:
            return self._uncached_packer_with_varint_counts(counts)
        pack = Struct(self._template.format(*counts)).pack
        if len(self) < PACKERS_MAX and max(counts) < SHORT_ARRAY_LENGTH:
            self[key] = pack
        return pack

    def _uncached_packer_with_varint_counts(self, counts: Sequence[int]) -> Pack:
        """Return a packer for counts of more than one byte."""
        head, *chunks = self._template.split("B{}")
        bodies = [f"{count}{part}" for count, part in zip(counts, chunks, strict=True)]
        codes = [head, *(f">{body}" for body in bodies)]

        def pack(*values: Any) -> bytes:
            out, at = [], 0
            for index, code in enumerate(codes):
                if index:
                    out.append(encode_unsigned_varint(values[at]))
                    at += 1
                step = Struct(code)
                value_count = len(step.unpack(bytes(step.size)))
                out.append(step.pack(*values[at : at + value_count]))
                at += value_count
            return b"".join(out)

        return pack


def unsupported_field_error(field_name: str, version: int) -> EncodeError:
    return EncodeError(f"`{field_name}` is not the default, but version {version} cannot carry it")


def unencodable_message_error(message_with_version: str, error: Exception) -> EncodeError:
    """Return the EncodeError for a message that could not be written."""
    return EncodeError(f"{message_with_version}: {error}")
