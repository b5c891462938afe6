"""The smallest ACL set that allows what was observed, and nothing that was denied."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as f

from kafka_shim.authorizer.acl_formats.kafka_commands import command
from kafka_shim.authorizer.acl_formats.trace_rule import acl_rule, parse_acl_rule
from kafka_shim.authorizer.model import Acl
from kafka_shim.pipeline.acls.generalise import Known
from kafka_shim.pipeline.acls.synthesis import least_for
from kafka_shim.pipeline.acls.verdict import QUESTION
from kafka_shim.protocol.enums import ResourceType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LEAST = pa.schema(
    [
        ("principal", pa.string()),
        ("acl", pa.string()),
        ("requests", pa.int64()),
        ("over_grants", pa.list_(pa.string())),  # further known names that it allows
        ("add", pa.string()),
    ]
)
_DDL = "principal string, acl string, requests long, over_grants array<string>, add string"


def least_acls(
    accesses: "DataFrame", over_grants: int | None = None, super_users: Sequence[str] = ()
) -> "DataFrame":
    """Return one row per ACL, in no order; `accesses` is `observed.needed(...)`.

    Super users need no ACLs. With `over_grants`, literal names are joined into prefixes that allow
    each principal at most that many known names (names that any principal used) that it never used.
    A prefix also allows names that nobody has used yet.
    """
    known = None if over_grants is None else _known(accesses)

    def least(table: pa.Table) -> pa.Table:
        principal = table["principal"][0].as_py()
        grants = least_for(principal, table.to_pylist(), known=known, over_grants=over_grants or 0)
        rows = [
            {
                "principal": principal,
                "acl": acl_rule(grant.acl),
                "requests": grant.requests,
                "over_grants": list(grant.over_grants),
                "add": command("--add", grant.acl),
            }
            for grant in grants
        ]
        return pa.Table.from_pylist(rows, LEAST)

    others = accesses.where(~f.col("principal").isin(list(super_users)))
    return _questions(others).groupBy("principal").applyInArrow(least, _DDL)


def _questions(accesses: "DataFrame") -> "DataFrame":
    """Return accesses with decisions, without API versions; a worker gets a whole principal."""
    return accesses.groupBy(*QUESTION, "allowed", "rule").agg(
        f.sum("requests").alias("requests"), f.max("last_seen").alias("last_seen")
    )


def collected(least: "DataFrame") -> list[Acl]:
    """Collect the ACLs of a result in a stable order."""
    texts = sorted(row["acl"] for row in least.select("acl").collect())
    return [acl for text in texts if (acl := parse_acl_rule(text)) is not None]


def likely_super_users(accesses: "DataFrame") -> list[str]:
    """Return principals that can change ACLs and were never denied, if the trace has no rules.

    If the broker logged its rules, accesses of super users are marked by their rule.
    """
    changes_acls = (f.col("resource_type") == "CLUSTER") & (f.col("operation") == "ALTER")
    rows = accesses.groupBy("principal").agg(
        f.min("allowed").alias("never_denied"),
        f.max(changes_acls).alias("changes_acls"),
        f.max("rule").alias("rule"),
    )
    found = rows.where("never_denied and changes_acls and rule = ''").select("principal")
    return sorted(row["principal"] for row in found.collect())


def _known(accesses: "DataFrame") -> Known:
    rows = accesses.groupBy("resource_type").agg(f.collect_set("resource_name").alias("names"))
    return {ResourceType[row["resource_type"]]: frozenset(row["names"]) for row in rows.collect()}
