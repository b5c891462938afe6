"""Reads Java's .properties files: server.properties, and client properties of Kafka's tools."""

import re
from collections.abc import Iterator
from pathlib import Path

from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.setting_locations import SettingLocations
from kafka_shim.text.input_files import is_utf8
from kafka_shim.text.message_text import print_note

_KEY = re.compile(r"(?:[^\\=:\s]|\\.)*", re.DOTALL)
_SEPARATOR = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_NAMED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


class Properties(dict[str, str]):
    """Keys and values of a file, with the last line of each key."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[str, int] = {}

    def locations(self, file: str) -> SettingLocations:
        """Return the lines for errors that begin with `file`."""
        return SettingLocations(file, self.keys(), self.lines.__getitem__)


def read_properties_file(path: str, option: str) -> Properties:
    """Return a file's keys and values. Raise ConfigError, beginning with `option`, on errors."""
    where = f"{option} {path}"
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise ConfigError(f"{where}: {error.strerror or error}") from error
    if b"\0" in content:
        raise ConfigError(f"{where}: not a text file")
    try:
        return parse_properties_of_bytes(content, where)
    except ValueError as error:
        raise ConfigError(f"{where}: {error}") from error


def parse_properties_of_bytes(content: bytes, where: str) -> Properties:
    """Parse bytes as Kafka does, in ISO-8859-1; print a note if they are meant as UTF-8.

    Raise ValueError as `parse_properties`.
    """
    properties = parse_properties(content.decode("latin-1"))
    misread = [name for name, value in properties.items() if _is_misread_utf8(value)]
    if misread:
        print_note(
            f"{where}: Kafka reads the value of {', '.join(misread)} in ISO-8859-1, not in UTF-8;"
            " write characters beyond ASCII as escapes, such as \\u00e9"
        )
    return properties


def _is_misread_utf8(text: str) -> bool:
    try:
        return text.encode("latin-1").decode() != text
    except UnicodeError:
        return False


def parse_properties(text: str) -> Properties:
    """Parse the format of java.util.Properties; the last value of a repeated key counts.

    Raise ValueError if an escape is half of a character: a lone surrogate, or too short.
    """
    properties = Properties()
    for number, line in _numbered_logical_lines(text):
        if any(escape == "u" for escape in _ESCAPE.findall(line)):
            raise ValueError(f"line {number}: `\\u` without four digits; a backslash is doubled")
        key = _KEY.match(line)
        assert key is not None, "the pattern matches the empty text too"
        separator = _SEPARATOR.match(line, key.end())
        assert separator is not None, "the pattern matches the empty text too"
        name, value = _unescape_java(key[0]), _unescape_java(line[separator.end() :])
        if not is_utf8(name + value):
            raise ValueError(f"line {number}: `{key[0]}` has an escape of half a character")
        properties[name] = value
        properties.lines[name] = number
    return properties


def _numbered_logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines with the number of their first one, without comments and blank ones; a final
    backslash joins the next line.
    """
    joined = ""
    first = 0
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        bare = line.lstrip(" \t\f")
        if not joined and (not bare or bare[0] in "#!"):
            continue
        first = first or number
        backslashes = len(bare) - len(bare.rstrip("\\"))
        if backslashes % 2:
            joined += bare[:-1]
            continue
        yield first, joined + bare
        joined, first = "", 0
    if joined:
        yield first, joined


def _unescape_java(text: str) -> str:
    if "\\" not in text:
        return text

    def unescape_match(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code[1:], 16)) if len(code) > 1 else _NAMED.get(code, code)

    code_units = _ESCAPE.sub(unescape_match, text)
    if is_utf8(code_units):
        return code_units
    return code_units.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
