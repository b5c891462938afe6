"""A matrix as text, CSV, HTML and JSON objects."""

import io
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any, Final

from kafka_shim.authorizer.acl_names import camel_case
from kafka_shim.authorizer.model import ANY_USER
from kafka_shim.policy.descriptions import names_object
from kafka_shim.policy.matrix import MatrixCell, MatrixResource, MatrixRow
from kafka_shim.policy.name_sets import ALL_NAMES
from kafka_shim.protocol.enums import Operation, ResourceType
from kafka_shim.text.data_text import write_csv
from kafka_shim.text.html_page import html_page_with_table
from kafka_shim.text.message_text import escaped

LETTERS: Final = {
    Operation.READ: "R",
    Operation.WRITE: "W",
    Operation.CREATE: "C",
    Operation.DELETE: "D",
    Operation.ALTER: "A",
    Operation.DESCRIBE: "d",
    Operation.CLUSTER_ACTION: "K",
    Operation.DESCRIBE_CONFIGS: "c",
    Operation.ALTER_CONFIGS: "a",
    Operation.IDEMPOTENT_WRITE: "I",
    Operation.CREATE_TOKENS: "T",
    Operation.DESCRIBE_TOKENS: "t",
    Operation.TWO_PHASE_COMMIT: "2",
}
EVERYONE_ELSE = "everyone else"
_PARTLY = "( ) for some names or hosts only"


def text_table(resources: Sequence[MatrixResource], rows: Sequence[MatrixRow]) -> Iterator[str]:
    """Yield lines of aligned columns with a letter for each operation, and a legend."""
    lines = [["", *(escaped(column_heading(each)) for each in resources)]]
    lines += [
        [
            escaped(principal_heading(row)),
            *map(_operation_letters, row.cells),
        ]
        for row in rows
    ]
    widths = [max(map(len, parts)) for parts in zip(*lines, strict=True)]
    for line in lines:
        yield "  ".join(
            part.ljust(width) for part, width in zip(line, widths, strict=True)
        ).rstrip()
    cells = [cell for row in rows for cell in row.cells]
    used = {
        operation
        for cell in cells
        for operation in (*cell.allowed_everywhere, *cell.allowed_somewhere)
    }
    legend = [f"{letter} {camel_case(op)}" for op, letter in LETTERS.items() if op in used]
    legend += [_PARTLY] if any(cell.allowed_somewhere for cell in cells) else []
    if legend:
        yield ", ".join(legend)


def csv_table(resources: Sequence[MatrixResource], rows: Iterable[MatrixRow]) -> str:
    """Return CSV with a column per resource; operations that are
    allowed only partly in brackets.
    """
    out = io.StringIO(newline="")
    cells_by_row = (
        [
            principal_heading(row),
            *(" ".join(_operation_names(cell)) for cell in row.cells),
        ]
        for row in rows
    )
    write_csv(["principal", *map(column_heading, resources)], cells_by_row, out)
    return out.getvalue()


def html_table(
    resources: Sequence[MatrixResource], rows: Iterable[MatrixRow], notes: Sequence[str] = ()
) -> str:
    """Return an HTML page without references to other files; notes are below the table."""
    html_rows = (
        f"<th>{escape(principal_heading(row))}</th>{''.join(map(_html_cell, row.cells))}"
        for row in rows
    )
    return html_page_with_table(
        "Kafka ACLs", ["", *map(column_heading, resources)], html_rows, "; ".join((_PARTLY, *notes))
    )


def cell_objects(
    resources: Sequence[MatrixResource], rows: Sequence[MatrixRow]
) -> list[dict[str, Any]]:
    return [
        {
            "principal": row.principal,
            "resource_type": resource.resource_type.name,
            "names": names_object(resource.names),
            "allowed": [operation.name for operation in cell.allowed_everywhere],
            "partly": [operation.name for operation in cell.allowed_somewhere],
        }
        for row in rows
        for resource, cell in zip(resources, row.cells, strict=True)
    ]


def column_heading(resource: MatrixResource) -> str:
    """Return a heading such as `topic orders`, `group app-*` or `cluster`."""
    kind = resource.resource_type.name.lower().replace("_", " ")
    if resource.resource_type is ResourceType.CLUSTER:
        return kind
    names = resource.names
    return f"{kind} {'*' if names == ALL_NAMES else names.text + '*' * names.is_prefix}"


def principal_heading(row: MatrixRow) -> str:
    return EVERYONE_ELSE if row.principal == ANY_USER else row.principal


def _operation_letters(cell: MatrixCell) -> str:
    partly = "".join(LETTERS[operation] for operation in cell.allowed_somewhere)
    return "".join(
        LETTERS[operation] for operation in cell.allowed_everywhere
    ) + f"({partly})" * bool(partly)


def _operation_names(cell: MatrixCell) -> list[str]:
    return [
        *map(camel_case, cell.allowed_everywhere),
        *(f"({camel_case(op)})" for op in cell.allowed_somewhere),
    ]


def _html_cell(cell: MatrixCell) -> str:
    return f"<td>{'<br>'.join(_operation_names(cell))}</td>"
