"""What a candidate ACL set would change: accesses newly denied and newly allowed."""

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.spark.verdict_columns import with_verdicts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

DENIED = "newly denied"
ALLOWED = "newly allowed"
_KEYS = ("change", "principal", "operation", "resource_type", "resource_name")


def what_breaks(
    accesses: "DataFrame", candidate: AclSet, baseline: AclSet | None = None
) -> "DataFrame":
    """Return the changes by principal, operation and resource; empty without changes.

    `accesses` is `observed.needed(...)`. The candidate is compared with the recorded decisions, or
    with those of `baseline` if it is given.
    """
    return changes(doubtful(accesses, candidate, baseline))


def doubtful(
    accesses: "DataFrame", candidate: AclSet, baseline: AclSet | None = None
) -> "DataFrame":
    """Return the judged accesses except those, usually most, that were and stay allowed."""
    return with_verdicts(accesses, candidate, baseline).where("not (allowed and would_be_allowed)")


def changes(judged: "DataFrame") -> "DataFrame":
    """Return the differences in judged accesses, by principal, operation and resource."""
    change = f.when(f.col("allowed"), DENIED).otherwise(ALLOWED).alias("change")
    rows = judged.where("allowed != would_be_allowed").groupBy(change, *_KEYS[1:])
    found = rows.agg(
        f.sort_array(f.collect_set("host")).alias("hosts"),
        f.sort_array(f.collect_set("api")).alias("apis"),
        f.sum("requests").alias("requests"),
        f.min("first_seen").alias("first_seen"),
        f.max("last_seen").alias("last_seen"),
        f.min_by("rule", "first_seen").alias("rule"),
        f.min_by("would_be_rule", "first_seen").alias("would_be_rule"),
        f.min_by("example", "first_seen").alias("example"),
    )
    return in_order(found)


def in_order(found: "DataFrame") -> "DataFrame":
    """Sort changes: newly denied accesses first, then by number."""
    order = f.when(f.col("change") == DENIED, 0).otherwise(1)
    return found.orderBy(order, f.desc("requests"), *_KEYS[1:])
