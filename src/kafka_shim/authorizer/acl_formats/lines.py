"""Mappings and lists with their line numbers in a text."""

from typing import Any


class Lined(dict[Any, Any]):
    """A mapping with the line where it begins, and the lines of its values by key."""

    __slots__ = ("line", "lines")

    line: int
    lines: dict[Any, int]


class LinedList(list[Any]):
    """A list with the lines of its items."""

    __slots__ = ("lines",)

    lines: list[int]


def line_of(value: object) -> int:
    """Return the line of a mapping that was loaded with lines, else 0."""
    return value.line if isinstance(value, Lined) else 0


def line_under(parent: object, key: str) -> int:
    """Return the line of the value under a key; 0 if unknown."""
    return parent.lines.get(key, parent.line) if isinstance(parent, Lined) else 0


def lines_under(parent: object, key: str, count: int) -> list[int]:
    """Return the lines of `count` items under a key: of a list, or of a single value."""
    value = parent.get(key) if isinstance(parent, Lined) else None
    return value.lines if isinstance(value, LinedList) else [line_under(parent, key)] * count
