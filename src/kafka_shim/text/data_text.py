"""JSON and CSV for people: nothing in it controls a terminal, or is a formula in a spreadsheet."""

import csv
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, TextIO

from kafka_shim.text.message_text import escaped

_NOT_ASCII: Final = re.compile(r"[^\n\x20-\x7e]")


def json_text(value: Any, indent: int | None = 2) -> str:
    """Return JSON in which characters that control a terminal or the direction of text are
    escaped, which does not change the value.
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return text if text.isprintable() else _NOT_ASCII.sub(_escape_unprintable, text)


def _escape_unprintable(match: re.Match[str]) -> str:
    return match[0] if match[0].isprintable() else json.dumps(match[0])[1:-1]


_FORMULA_BEGINNINGS = ("=", "+", "-", "@")


def write_csv(columns: Sequence[str], rows: Iterable[Iterable[object]], stream: TextIO) -> None:
    """Write a table. Text that a spreadsheet would compute begins with an apostrophe, as there, and
    control characters are escapes.
    """
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(map(_escape_cell, columns))
    for row in rows:
        writer.writerow(_escape_cell(cell) if isinstance(cell, str) else cell for cell in row)


def _escape_cell(cell: str) -> str:
    text = escaped(cell)
    return f"'{text}" if text.startswith(_FORMULA_BEGINNINGS) else text
