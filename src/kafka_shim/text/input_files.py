"""Texts of files that users name, and the errors for what cannot be used."""

import sys


class ConfigError(Exception):
    """An invalid configuration; the text says what, where and what to do."""

    @property
    def messages(self) -> tuple[str, ...]:
        """The errors, each to be reported on a line of its own: files can have several."""
        return (str(self),)


class InputError(ConfigError):
    """Errors in files; each message begins with the path and, if known, the line."""

    def __init__(self, *messages: str) -> None:
        self._messages = tuple(" ".join(message.split()) for message in messages)
        super().__init__("\n".join(self._messages))

    @property
    def messages(self) -> tuple[str, ...]:
        return self._messages


def place_text(path: str, line: int) -> str:
    """Return a place such as `acls.yaml:3`."""
    return f"{path}:{line}" if line else path


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


def read_text_file(path: str, option: str) -> str:
    """Return the text of a file, or of standard input for `-`. Raise ConfigError if unreadable."""
    from pathlib import Path  # noqa: PLC0415 - a broker starts without it, and needs the errors

    try:
        return sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{option} {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{option} {path}: {not_utf8_message(error)}") from error


def read_text_without_bom(path: str) -> str:
    """Return the text of a file, or of standard input for `-`. Raise InputError if unreadable."""
    try:
        return read_text_file(path, "").removeprefix("\ufeff")
    except ConfigError as error:
        raise InputError(str(error).strip()) from error
