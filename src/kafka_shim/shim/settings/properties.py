"""Reads Java's .properties files: server.properties, and client properties of Kafka's tools."""

import re
from collections.abc import Iterator
from pathlib import Path

from kafka_shim.shim.errors import ConfigError

_KEY = re.compile(r"(?:[^\\=:\s]|\\.)*", re.DOTALL)
_SEPARATOR = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_NAMED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def read_properties(path: str, option: str) -> dict[str, str]:
    """Return the keys and values of a file; ConfigError, beginning with `option`, if unreadable."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{option} {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{option} {path}: not a text file in UTF-8") from error
    return parse_properties(text)


def parse_properties(text: str) -> dict[str, str]:
    """Parse the format of java.util.Properties; the last value of a repeated key counts."""
    found = {}
    for line in _logical_lines(text):
        key = _KEY.match(line)
        assert key is not None, "the pattern matches the empty text too"
        separator = _SEPARATOR.match(line, key.end())
        assert separator is not None, "the pattern matches the empty text too"
        found[_unescape(key[0])] = _unescape(line[separator.end() :])
    return found


def _logical_lines(text: str) -> Iterator[str]:
    """Yield lines without comments and blank lines; a final backslash joins the next line."""
    joined = ""
    for line in re.split(r"\r\n|\r|\n", text):
        bare = line.lstrip(" \t\f")
        if not joined and (not bare or bare[0] in "#!"):
            continue
        backslashes = len(bare) - len(bare.rstrip("\\"))
        if backslashes % 2:
            joined += bare[:-1]
            continue
        yield joined + bare
        joined = ""
    if joined:
        yield joined


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text

    def meant(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code[1:], 16)) if len(code) > 1 else _NAMED.get(code, code)

    return _ESCAPE.sub(meant, text)
