"""The format `csv`: one line per ACL, with the columns of kafka-security-manager or kafka-ui.

    KafkaPrincipal,ResourceType,PatternType,ResourceName,Operation,PermissionType,Host
    User:alice,Topic,LITERAL,orders,Read,Allow,*

kafka-ui calls the first column `Principal`, and ignores case in the heading, and spaces around
cells. Older tables have no `PatternType`. Any separator is read, since distinguished names hold
commas.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable
from operator import itemgetter

from kafka_shim.authorizer.acl_names import AclTextError, camel_case
from kafka_shim.authorizer.model import Acl
from kafka_shim.policy.formats.documents import check_keys_are_known
from kafka_shim.policy.formats.fields import (
    AclWithLine,
    ErrorCollector,
    add_line_to_errors,
    parse_acl_texts,
)

COLUMNS = (
    "KafkaPrincipal",
    "ResourceType",
    "PatternType",
    "ResourceName",
    "Operation",
    "PermissionType",
    "Host",
)
_COLUMNS_BY_NAME = {"principal": COLUMNS[0], **{name.lower(): name for name in COLUMNS}}
_COLUMNS_OF_TEXTS = (
    "KafkaPrincipal",
    "Host",
    "ResourceType",
    "ResourceName",
    "PatternType",
    "Operation",
    "PermissionType",
)
"""The columns in the order of `parse_acl_texts`."""
_PLACES_OF_WORDS = (2, 4, 5, 6)
"""Those of the texts that are no names."""


def parse_acls(text: str) -> list[AclWithLine]:
    """Return the ACLs of a table. Raise AclTextError, which names the line, if that fails."""
    table = text.removeprefix("\ufeff")
    separator = re.match(r'"?((?:Kafka)?Principal)"? *([^\w\s"]|\t)', table, re.IGNORECASE)
    if separator is None:
        raise AclTextError(f"the first line must name the columns: {','.join(COLUMNS)}")
    rows = csv.reader(io.StringIO(table, newline=""), delimiter=separator[2], strict=True)
    acls: list[AclWithLine] = []
    mistakes = ErrorCollector()
    try:
        columns = [_COLUMNS_BY_NAME.get(name.strip().lower(), name) for name in next(rows)]
        parse_row = _make_row_parser(columns, is_stripped=separator[1].lower() == "principal")
        for row in rows:
            try:  # once for each of many lines, so without a context manager
                if row:
                    acls.append((parse_row(row), rows.line_num))
            except AclTextError as error:
                mistakes.add_error(error, rows.line_num)
    except csv.Error as error:
        raise AclTextError(str(error), rows.line_num) from error
    mistakes.raise_collected_errors()
    return acls


def format_acls(acls: Iterable[Acl]) -> str:
    """Return a table of the ACLs, with a heading.

    Raise AclTextError for control characters, which do not survive spreadsheets and readers.
    """
    table = io.StringIO(newline="")
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(COLUMNS)
    for acl in acls:
        for text in (acl.principal, acl.resource_name, acl.host):
            if not text.isprintable():
                raise AclTextError(f"`{text}` cannot be a cell: it has control characters")
        writer.writerow(
            (
                acl.principal,
                camel_case(acl.resource_type),
                acl.pattern_type.name,
                acl.resource_name,
                camel_case(acl.operation),
                camel_case(acl.permission),
                acl.host,
            )
        )
    return table.getvalue()


def _make_row_parser(columns: list[str], *, is_stripped: bool) -> Callable[[list[str]], Acl]:
    """Return a function from the fields of a row to its ACL. Raise AclTextError for wrong columns.

    Spaces around cells are left out if the table `is_stripped`, and may be part of names otherwise.

    The function raises AclTextError, too.
    """
    places = {name: place for place, name in enumerate(columns)}
    missing = set(COLUMNS) - {"PatternType"} - set(places)
    if missing:
        raise AclTextError(f"the column `{min(missing)}` is missing", 1)
    if len(places) < len(columns):
        raise AclTextError("a column is there several times", 1)
    with add_line_to_errors(1):
        check_keys_are_known(columns, COLUMNS, "the columns")
    places.setdefault("PatternType", len(columns))
    texts = itemgetter(*(places[name] for name in _COLUMNS_OF_TEXTS))

    def parse_row(row: list[str]) -> Acl:
        if len(row) != len(columns):
            raise AclTextError("the line must have as many fields as the first line")
        cells = texts([*map(str.strip, row), "LITERAL"] if is_stripped else [*row, "LITERAL"])
        if "" in cells:
            raise AclTextError("a cell is empty")
        for place in _PLACES_OF_WORDS:
            if cells[place] != cells[place].strip():
                raise AclTextError(f"there are spaces around `{cells[place].strip()}`")
        return parse_acl_texts(cells)

    return parse_row
