"""Sums of rows for charts."""

from collections.abc import Iterable
from typing import Any

from kafka_shim.authorizer.acl_formats.trace_rule import parse_acl_rule
from kafka_shim.pipeline.report.charts import Bar

RESOURCE = ("operation", "resource_type", "resource_name")


def totals(rows: Iterable[dict[str, Any]], *names: str, value: str = "requests") -> list[Bar]:
    """Sum the column `value` by the values of the columns `names`;
    count rows if `value` is empty.
    """
    found: dict[str, float] = {}
    for row in rows:
        name = " ".join(str(row[name]) for name in names)
        found[name] = found.get(name, 0) + (row[value] if value else 1)
    return list(found.items())


def acls_by_principal(rows: Iterable[dict[str, Any]]) -> list[Bar]:
    """Count the ACLs in the column `acl` by their principal."""
    people = [acl.principal for row in rows if (acl := parse_acl_rule(row["acl"])) is not None]
    return [(name, people.count(name)) for name in dict.fromkeys(people)]
