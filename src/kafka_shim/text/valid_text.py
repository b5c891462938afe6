"""The check of text from outside: what is stored, traced, logged or sent must be writable."""


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
    line = error.object[: error.start].count(b"\n") + 1
    return f"line {line}: not a text file in UTF-8"
