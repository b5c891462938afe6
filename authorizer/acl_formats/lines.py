"""Mappings and lists that know on which lines of a text they are."""

from typing import Any


class Lined(dict[Any, Any]):
    """A mapping with the line where it begins, and those of its values by key."""

    __slots__ = ("line", "lines")

    line: int
    lines: dict[Any, int]


class LinedList(list[Any]):
    """A list with the lines of its items."""

    __slots__ = ("lines",)

    lines: list[int]


def line_of(value: object) -> int:
    """The line of a mapping that was loaded with lines, else 0."""
    return value.line if isinstance(value, Lined) else 0


def line_under(parent: object, key: str) -> int:
    """The line of the value under a key; 0 if it is not known."""
    return parent.lines.get(key, parent.line) if isinstance(parent, Lined) else 0


def lines_under(parent: object, key: str, count: int) -> list[int]:
    """The lines of the items under a key: of `count` in a list, or of one value."""
    value = parent.get(key) if isinstance(parent, Lined) else None
    return value.lines if isinstance(value, LinedList) else [line_under(parent, key)] * count
