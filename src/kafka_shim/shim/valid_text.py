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
