"""Read TOML, with the lines of its errors and keys, which Python's reader does not return."""

import re
from collections.abc import Iterator
from typing import Any, Final

from kafka_shim.authorizer.acl_names import AclTextError

_ERROR_PLACE: Final = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)")
_LONG_NUMBER: Final = re.compile(r"[0-9_]{4000,}")
_TOKEN: Final = re.compile(
    r'"""(?:[^\\]|\\.)*?"""'
    r"|'''.*?'''"
    r"|\#[^\n]*"
    r'|(?P<string>"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\')'
    r"|(?P<bare>[A-Za-z0-9_-]+)"
    r"|(?P<bracket>[\[\]{}])",
    re.DOTALL | re.VERBOSE,
)
_END_OF_KEY: Final = re.compile(r"[ \t]*[=.]")
_HEADER: Final = re.compile(r"[ \t]*\[\[?[ \t]*(?:[^\n#=]*\.[ \t]*)?")


def load_toml(text: str) -> dict[str, Any]:
    """Return the content of a TOML text. Raise AclTextError, with the line, if it is invalid."""
    import tomllib  # noqa: PLC0415 - most commands need no TOML

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _ERROR_PLACE.search(str(error))
        line = int(place[1]) if place and place[1] else text.count("\n") + 1
        raise AclTextError(f"not TOML: {_ERROR_PLACE.sub('', str(error))}", line) from error
    except RecursionError as error:
        raise AclTextError("unsupported TOML: nested too deep", _line_of_depth(text)) from error
    except ValueError as error:  # a number of too many digits
        number = _LONG_NUMBER.search(text)
        line = _line_at(text, number.start()) if number else 1
        raise AclTextError(f"unsupported TOML: {error}", line) from error


def lines_of_toml_key(text: str, key: str) -> list[int]:
    """Return the line of each occurrence of a key or table of a valid TOML text."""
    return [line for name, line in _keys_with_lines(text) if name == key]


def _keys_with_lines(text: str) -> Iterator[tuple[str, int]]:
    """Yield each key, without the tables around it, and each part of a dotted key."""
    for token in _TOKEN.finditer(text):
        written = token["string"] or token["bare"]
        if written and (
            _END_OF_KEY.match(text, token.end()) or _begins_header(text, token.start())
        ):
            yield _unquote_key(written), _line_at(text, token.start())


def _begins_header(text: str, position: int) -> bool:
    """Return whether a line up to a position is the beginning of a table's header."""
    start = text.rfind("\n", 0, position) + 1
    return _HEADER.fullmatch(text, start, position) is not None


def _unquote_key(written: str) -> str:
    """Return a key without quotes and escapes."""
    if written[0] != '"':
        return written.strip("'")
    import tomllib  # noqa: PLC0415 - as above

    return next(iter(tomllib.loads(f"{written} = 0")))


def _line_of_depth(text: str) -> int:
    """Return the line on which brackets are nested deepest."""
    depth = deepest = position = 0
    for token in _TOKEN.finditer(text):
        if token["bracket"]:
            depth += 1 if token["bracket"] in "[{" else -1
            if depth > deepest:
                deepest, position = depth, token.start()
    return _line_at(text, position)


def _line_at(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
