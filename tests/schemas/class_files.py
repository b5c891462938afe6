"""Writes small class files, so that the tests of their reader need no Java."""

import struct
from collections.abc import Mapping

OWN_CLASS, CONSTRUCTOR, CODE, INITIALISER = 2, 5, 6, 7
"""Indexes in the constant pool of `class_of_enum`."""
RETURN = b"\xb1"


def class_of_enum(codes: Mapping[str, int]) -> bytes:
    """Return an enum whose static initialiser creates a constant for each code, as javac does."""
    pool = [_text("Made"), b"\7\0\1", _text("<init>"), b"\x0c\0\3\0\3", b"\x0a\0\2\0\4"]
    pool += [_text("Code"), _text("<clinit>")]
    body = b""
    for ordinal, (name, code) in enumerate(codes.items()):
        pool += [_text(name), b"\x08" + struct.pack(">H", len(pool) + 1)]
        body += b"\xbb" + struct.pack(">H", OWN_CLASS) + b"\x59"  # new, dup
        body += b"\x12" + bytes([len(pool)]) + b"\x10" + bytes([ordinal])  # ldc, bipush
        body += b"\x11" + struct.pack(">h", code)  # sipush
        body += b"\xb7" + struct.pack(">H", CONSTRUCTOR) + b"\x57"  # invokespecial, pop
    return _class(pool, body + RETURN)


def class_with_code(body: bytes) -> bytes:
    """Return a class with this static initialiser."""
    pool = [_text("Made"), b"\7\0\1", *[_text("unused")] * 3, _text("Code"), _text("<clinit>")]
    return _class(pool, body)


def _class(pool: list[bytes], body: bytes) -> bytes:
    attribute = struct.pack(">HHI", 9, 0, len(body)) + body + b"\0\0\0\0"
    method = struct.pack(">HHHHHI", 0, INITIALISER, 1, 1, CODE, len(attribute)) + attribute
    head = b"\xca\xfe\xba\xbe\0\0\0\x3d" + struct.pack(">H", len(pool) + 1) + b"".join(pool)
    return head + struct.pack(">HHHHHH", 0, OWN_CLASS, OWN_CLASS, 0, 0, 1) + method + b"\0\0"


def _text(text: str) -> bytes:
    return b"\1" + struct.pack(">H", len(text)) + text.encode()
