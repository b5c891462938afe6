"""The check of text from outside: what is stored, traced, logged or sent must be writable."""

_BINARY_FORMATS: dict[str, tuple[bytes, ...]] = {
    "a Java keystore (JKS)": (b"\xfe\xed\xfe\xed",),
    "a Java keystore (JCEKS)": (b"\xce\xce\xce\xce",),
    "a keystore or key in binary form (PKCS #12, DER)": (b"\x30\x82",),
    "compressed with gzip": (b"\x1f\x8b",),
    "a zip or jar file": (b"PK\x03\x04",),
    "text in UTF-16": (b"\xff\xfe", b"\xfe\xff"),
}
"""The first bytes of files that are given by mistake."""


def is_utf8(text: str) -> bool:
    """Return whether the text can be encoded: it has no lone surrogates, as JSON may have."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def not_utf8_message(error: UnicodeDecodeError) -> str:
    """Return what is wrong with the bytes of a file, with the line."""
    for name, magic in _BINARY_FORMATS.items():
        if error.object.startswith(magic):
            return f"not a text file in UTF-8, but {name}"
    line = error.object[: error.start].count(b"\n") + 1
    return f"line {line}: not a text file in UTF-8"
