"""Mappings and lists with their line numbers in a text, and JSON that is parsed into them."""

import json
import re
from collections.abc import Iterator
from typing import Any

from kafka_shim.authorizer.acl_names import AclTextError

_MARK = re.compile(r'"(?:[^"\\]|\\.)*"(\s*:)?|[{}\n]', re.DOTALL)


class MappingWithLines(dict[Any, Any]):
    """A mapping with the line where it begins, and the lines of its values by key."""

    __slots__ = ("line", "lines")

    line: int
    lines: dict[Any, int]


class ListWithLines(list[Any]):
    """A list with the lines of its items."""

    __slots__ = ("lines",)

    lines: list[int]


def line_of_mapping(value: object) -> int:
    """Return the line of a mapping that was loaded with lines, else 0."""
    return value.line if isinstance(value, MappingWithLines) else 0


def line_of_key(parent: object, key: str) -> int:
    """Return the line of the value under a key; 0 if unknown."""
    return parent.lines.get(key, parent.line) if isinstance(parent, MappingWithLines) else 0


def lines_of_items(parent: object, key: str, count: int) -> list[int]:
    """Return the lines of `count` items under a key: of a list, or of a single value."""
    value = parent.get(key) if isinstance(parent, MappingWithLines) else None
    return value.lines if isinstance(value, ListWithLines) else [line_of_key(parent, key)] * count


def load_json_with_lines(text: str) -> Any:
    """Return a JSON value with its objects as MappingWithLines. Raise AclTextError if invalid."""
    lines = _lines_by_object(text)

    def add_lines(pairs: list[tuple[str, Any]]) -> MappingWithLines:
        found = MappingWithLines(pairs)
        found.line, keys = next(lines)
        found.lines = {key: line for (key, _), line in zip(pairs, keys, strict=True)}
        return found

    try:
        return json.loads(text, object_pairs_hook=add_lines)
    except json.JSONDecodeError as error:
        raise AclTextError(f"not JSON: {error.msg}", error.lineno) from error
    except (RecursionError, ValueError) as error:  # too deep, or a number of too many digits
        raise AclTextError(f"unsupported JSON: {error}") from error


def _lines_by_object(text: str) -> Iterator[tuple[int, list[int]]]:
    """Yield the lines of each object and of its keys, in the order in which objects end."""
    line, open_objects = 1, list[tuple[int, list[int]]]()
    for mark in _MARK.finditer(text):
        if mark[0] == "\n":
            line += 1
        elif mark[0] == "{":
            open_objects.append((line, []))
        elif mark[0] == "}":
            yield open_objects.pop()
        elif mark[1] is not None:
            open_objects[-1][1].append(line)
            line += mark[1].count("\n")
