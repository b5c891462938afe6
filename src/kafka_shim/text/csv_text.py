"""CSV that people open in a spreadsheet: a name that a client chose is text there, no formula."""

import csv
from collections.abc import Iterable, Sequence
from typing import TextIO

from kafka_shim.text.message_text import escaped

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
