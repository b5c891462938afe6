"""The page to which the inspector's APIs, errors and operations link: what each of them means.

Its rows have the names as ids, such as `reference#Produce` and `reference#WRITE`.
"""

import re
from collections.abc import Iterable, Iterator
from html import escape

from kafka_shim.authorizer.acl_rules import (
    operations_whose_allow_includes,
    supported_operations,
)
from kafka_shim.authorizer.explaining.requirements_text import markdown_cells
from kafka_shim.authorizer.requirement import OPEN_TO_ALL, Requirement
from kafka_shim.authorizer.requirements import TABLE
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode

_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Reference · kafka-shim inspector</title>
<link rel="stylesheet" href="inspector.css">
<link rel="icon" href="favicon.svg">
</head>
<body class="reference">
<h1>APIs, errors and operations</h1>
"""
_API_COLUMNS = ("API", "Check", "Needs", "Names", "Denied", "Releases", "When, and notes")


def reference_page() -> bytes:
    """Return the page as HTML."""
    tables = (
        _table_lines("Permission checks of each API", _API_COLUMNS, _api_rows()),
        _table_lines(
            "Error codes", ("Error", "Code", "Checks that respond with it"), _error_rows()
        ),
        _table_lines(
            "Operations",
            ("Operation", "Resource types", "Allowed by ACLs of", "Checks that need it"),
            _operation_rows(),
        ),
    )
    lines = (line for table in tables for line in table)
    return f"{_HEAD}{''.join(lines)}</body>\n</html>\n".encode()


def _table_lines(
    caption: str, columns: Iterable[str], rows: Iterable[tuple[str, list[str]]]
) -> Iterator[str]:
    """Yield a table; a row has an id, which its first cell shows, and further cells as HTML."""
    heads = "".join(f'<th scope="col">{column}</th>' for column in columns)
    yield f"<table>\n<caption>{caption}</caption>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n"
    ids: set[str] = set()
    for name, cells in rows:
        row_id = "" if name in ids else f' id="{escape(name)}"'
        ids.add(name)
        tail = "".join(f"<td>{cell}</td>" for cell in cells)
        yield f'<tr{row_id}><th scope="row">{escape(name)}</th>{tail}</tr>\n'
    yield "</tbody>\n</table>\n"


def _api_rows() -> Iterator[tuple[str, list[str]]]:
    checks: dict[str, list[Requirement]] = {key.wire_name: [] for key in ApiKey}
    for row in TABLE:
        checks[row.api.wire_name].append(row)
    reasons = {key.wire_name: reason for key, reason in OPEN_TO_ALL.items()}
    for name, rows in checks.items():
        for row in rows:
            yield name, [_html(cell) for cell in markdown_cells(row)]
        if name in reasons:
            text = f"needs no permission: {reasons[name]}"
            yield name, ["", _html(text), *[""] * (len(_API_COLUMNS) - 3)]


def _error_rows() -> Iterator[tuple[str, list[str]]]:
    for error in ErrorCode:
        checks = [row for row in TABLE if any(each.error is error for each in row.denied)]
        yield error.name, [str(int(error)), _requirement_links(checks)]


def _operation_rows() -> Iterator[tuple[str, list[str]]]:
    types = {kind: supported_operations(kind) for kind in ResourceType}
    for operation in Operation:
        checks = [row for row in TABLE if any(each.operation is operation for each in row.any_of)]
        names = [kind.name for kind, operations in types.items() if operation in operations]
        allowing = sorted(each.name for each in operations_whose_allow_includes(operation))
        if names:
            yield (
                operation.name,
                [", ".join(names), ", ".join(allowing), _requirement_links(checks)],
            )


def _requirement_links(rows: list[Requirement]) -> str:
    return ", ".join(f'<a href="#{row.api.wire_name}">{escape(row.id)}</a>' for row in rows)


def _html(markdown: str) -> str:
    """Return the HTML of a cell's text with `code`, **bold** and line breaks."""
    text = escape(markdown).replace("&lt;br&gt;", "<br>")
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
    return re.sub(r"`(.+?)`", r"<code>\1</code>", text)
