"""Print or write results: aligned columns, JSON, CSV, Parquet."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, TextIO

from kafka_shim.policy.formats.trace_rule import readable_rule
from kafka_shim.text.data_text import json_text, write_csv
from kafka_shim.text.message_text import escaped

CELL_MAX = 44
RULE_COLUMNS = frozenset(("acl", "shadowed_by", "rule", "would_be_rule", "subject"))
"""The columns with rules of traces; in others, a name that looks like a rule stays a name."""


def output_value(value: Any) -> Any:
    """Return a value for JSON and CSV; times become ISO text in UTC (Spark returns local times)."""
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value


def cell_text(value: Any, column: str = "") -> str:
    """Return a value as the text of a table cell; an ACL is a line."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(value, list):
        return ",".join(map(str, value))
    return readable_rule(str(value)) if column in RULE_COLUMNS else str(value)


def print_table(columns: Sequence[str], rows: list[dict[str, Any]], stream: TextIO) -> None:
    """Print aligned columns; long cells are shortened on a terminal only."""
    longest = CELL_MAX if stream.isatty() else sys.maxsize
    cells = [
        [_truncate(escaped(cell_text(row[name], name)), longest) for name in columns]
        for row in rows
    ]
    heads = [name.replace("_", " ") for name in columns]
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    for line in (heads, ["-" * width for width in widths], *cells):
        text = "  ".join(value.ljust(width) for value, width in zip(line, widths, strict=True))
        print(text.rstrip(), file=stream)


def _truncate(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 3] + "..."


def rows_with_iso_times(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: output_value(value) for name, value in row.items()} for row in rows]


def print_json(content: dict[str, Any], stream: TextIO) -> None:
    print(json_text(content), file=stream)


def print_csv(columns: Sequence[str], rows: list[dict[str, Any]], stream: TextIO) -> None:
    """Print CSV; elements of a list are separated by spaces within their field."""

    def cell(value: Any) -> object:
        return " ".join(map(str, value)) if isinstance(value, list) else output_value(value)

    write_csv(columns, ([cell(row[name]) for name in columns] for row in rows), stream)
