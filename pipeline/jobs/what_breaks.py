"""What a candidate ACL set would change: accesses newly denied and newly allowed."""

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from pipeline.acl_set import AclSet
from pipeline.tables import ddl
from pipeline.verdict import JUDGED, judge

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

DENIED = "newly denied"
ALLOWED = "newly allowed"
_KEYS = ("change", "principal", "operation", "resource_type", "resource_name")


def what_breaks(
    accesses: "DataFrame", candidate: AclSet, baseline: AclSet | None = None
) -> "DataFrame":
    """The changes by principal, operation and resource; empty if there are none.

    `accesses` is `observed.asked(...)`. Compared is with what was decided at the time or, if there
    is a baseline, with what that would have decided.
    """
    after = accesses.mapInArrow(judge(candidate, baseline), ddl(JUDGED))
    changed = after.where(f.col("allowed") != f.col("would_be_allowed")).withColumn(
        "change", f.when(f.col("allowed"), DENIED).otherwise(ALLOWED)
    )
    rows = changed.groupBy(*_KEYS).agg(
        f.sort_array(f.collect_set("host")).alias("hosts"),
        f.sort_array(f.collect_set("api")).alias("apis"),
        f.sum("requests").alias("requests"),
        f.min("first_seen").alias("first_seen"),
        f.max("last_seen").alias("last_seen"),
        f.min_by("rule", "first_seen").alias("rule"),
        f.min_by("would_be_rule", "first_seen").alias("would_be_rule"),
        f.min_by("example", "first_seen").alias("example"),
    )
    order = f.when(f.col("change") == DENIED, 0).otherwise(1)
    return rows.orderBy(order, f.desc("requests"), *_KEYS[1:])
