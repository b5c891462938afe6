"""The allowed operations of principals on resources, for all names of a pattern and all hosts.

A matrix is printed as text, CSV, HTML and JSON objects.
"""

import io
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any, Final

import msgspec

from kafka_shim.authorizer.acl_names import camel_case
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import ANY_USER, Acl, Action, Actor
from kafka_shim.policy.checked_accesses import (
    checked_operations_by_resource_type,
    require_full_prefix_search,
    sample_host,
    sample_principal,
)
from kafka_shim.policy.decision_boundaries import DecisionBoundaries
from kafka_shim.policy.descriptions import names_object
from kafka_shim.policy.name_sets import (
    ALL_NAMES,
    STARRED_NAMES,
    NameSet,
    divide_into_regions,
    names_covered_by_acl,
)
from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, ResourceType
from kafka_shim.text.data_text import write_csv
from kafka_shim.text.html_page import html_page_with_table
from kafka_shim.text.message_text import escaped


class MatrixResource(msgspec.Struct, frozen=True):
    """A column: one name, or a pattern."""

    resource_type: ResourceType
    names: NameSet


class MatrixCell(msgspec.Struct, frozen=True):
    """Operations that are allowed on all names from every host, and those allowed only on some."""

    allowed_everywhere: tuple[Operation, ...] = ()
    allowed_somewhere: tuple[Operation, ...] = ()

    @property
    def has_access(self) -> bool:
        return bool(self.allowed_everywhere or self.allowed_somewhere)


class MatrixRow(msgspec.Struct, frozen=True):
    """The cells of a principal; `User:*` stands for all principals without ACLs."""

    principal: str
    cells: tuple[MatrixCell, ...]

    @property
    def has_no_access(self) -> bool:
        return not any(cell.has_access for cell in self.cells)


def resources_in_acls(acls: Iterable[Acl]) -> list[MatrixResource]:
    """Return the distinct patterns of the ACLs; literal `*` is a pattern for all names."""
    resources = {MatrixResource(acl.resource_type, names_covered_by_acl(acl)) for acl in acls}
    return sorted(resources, key=lambda r: (r.resource_type, r.names.text, not r.names.is_prefix))


def listed_principals(acls: Iterable[Acl]) -> list[str]:
    """Return the principals of the ACLs, and at the end everyone else."""
    return [*sorted({acl.principal for acl in acls} - {ANY_USER}), ANY_USER]


def drop_empty_lines(
    resources: Sequence[MatrixResource],
    rows: Sequence[MatrixRow],
    *,
    keeps_all_rows: bool,
    keeps_all_columns: bool,
) -> tuple[list[MatrixResource], list[MatrixRow]]:
    """Return the matrix without empty columns and rows; the row of everyone else stays."""
    columns = [
        at
        for at in range(len(resources))
        if keeps_all_columns or any(row.cells[at].has_access for row in rows)
    ]
    kept_rows = [
        row for row in rows if keeps_all_rows or row.principal == ANY_USER or not row.has_no_access
    ]
    return [resources[at] for at in columns], [
        MatrixRow(row.principal, tuple(row.cells[at] for at in columns)) for row in kept_rows
    ]


def access_matrix(
    authorizer: StandardAuthorizer,
    release: str,
    principals: Iterable[str],
    resources: Sequence[MatrixResource],
    operations: Iterable[Operation] = (),
) -> list[MatrixRow]:
    """Return a row for each principal; the default `operations` are all that brokers check.

    Raise InexactReleaseError for a release whose decisions cannot be computed for all names.
    """
    require_full_prefix_search(authorizer)
    distinct = DecisionBoundaries(authorizer)
    checked = checked_operations_by_resource_type(release)
    selected = set(operations) or set(Operation)
    return [
        MatrixRow(
            principal,
            tuple(
                _decide_cell(
                    authorizer,
                    distinct,
                    principal,
                    resource,
                    [op for op in checked.get(resource.resource_type, ()) if op in selected],
                )
                for resource in resources
            ),
        )
        for principal in principals
    ]


def _decide_cell(
    authorizer: StandardAuthorizer,
    distinct: DecisionBoundaries,
    principal: str,
    resource: MatrixResource,
    operations: Iterable[Operation],
) -> MatrixCell:
    actors = [
        Actor(sample_principal(principal), sample_host(host))
        for host in distinct.distinct_hosts(resource.resource_type, principal)
    ]
    names = _sample_names(authorizer, distinct, principal, resource)
    always, partly = [], []
    for operation in operations:
        outcomes = {
            authorizer.decide_uncached(
                actor, Action(operation, resource.resource_type, name)
            ).allowed
            for name in names
            for actor in actors
        }
        if outcomes == {True}:
            always.append(operation)
        elif True in outcomes:
            partly.append(operation)
    return MatrixCell(tuple(always), tuple(partly))


def _sample_names(
    authorizer: StandardAuthorizer,
    distinct: DecisionBoundaries,
    principal: str,
    resource: MatrixResource,
) -> list[str]:
    """Return one name per region; for all names, those that literal `*` covers."""
    if resource.resource_type is ResourceType.CLUSTER:
        return [CLUSTER_NAME]
    distinct_names = distinct.distinct_names_within(
        resource.resource_type, principal, resource.names
    )
    name_regions = divide_into_regions(
        resource.resource_type, distinct_names, authorizer.rules, resource.names
    )
    is_all = resource.names == ALL_NAMES and not authorizer.rules.wildcard_covers_starred_names
    return [
        region.sample_name
        for region in name_regions
        if not (is_all and STARRED_NAMES.includes_names(region.names))
    ]


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
