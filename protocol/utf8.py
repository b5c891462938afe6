"""Decode UTF-8 as a broker does: what is malformed is replaced, never refused.

Java and Python replace the same pieces by U+FFFD but for one case: the beginning of a spelled
surrogate (ED followed by A0 to BF) is one piece for Java, with its third byte if that is there.
"""

import codecs

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_HANDLER = "kafka-shim-replace"


def decode_like_java(data: bytes) -> str:
    """Return the text of `data`, malformed parts replaced."""
    return data.decode("utf-8", _HANDLER)


def text(data: bytes) -> str:
    """Return the text of `data` as `decode_like_java` does, faster when nothing is malformed."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return decode_like_java(data)


def _replace(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    data, start = error.object, error.start
    if data[start] != 0xED or not 0xA0 <= _byte(data, start + 1) <= 0xBF:
        return _REPLACEMENT, error.end
    has_third = 0x80 <= _byte(data, start + 2) <= 0xBF
    return _REPLACEMENT, start + (3 if has_third else 2)


def _byte(data: bytes, at: int) -> int:
    return data[at] if at < len(data) else 0


codecs.register_error(_HANDLER, _replace)
