"""Decodes UTF-8 as a broker does: malformed chunks are replaced, never rejected.

Java and Python replace the same chunks by U+FFFD, with one exception: the beginning of an encoded
surrogate (ED followed by A0 to BF) is one part in Java, including its third byte if there is one.
"""

import codecs

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_HANDLER = "kafka-shim-replace"


def decode_like_java(data: bytes) -> str:
    """Return the text of `data`, with malformed chunks replaced."""
    try:
        return data.decode()  # faster without an error handler
    except UnicodeDecodeError:
        return data.decode("utf-8", _HANDLER)


def _replace_malformed_part_like_java(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    data, start = error.object, error.start
    if data[start] != 0xED or not 0xA0 <= _byte(data, start + 1) <= 0xBF:
        return _REPLACEMENT, error.end
    has_third = 0x80 <= _byte(data, start + 2) <= 0xBF
    return _REPLACEMENT, start + (3 if has_third else 2)


def _byte(data: bytes, at: int) -> int:
    return data[at] if at < len(data) else 0


codecs.register_error(_HANDLER, _replace_malformed_part_like_java)
