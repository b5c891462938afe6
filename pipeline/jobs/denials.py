"""Who was denied what, where, since when, and the smallest change that would allow it."""

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_KEYS = ("principal", "operation", "resource_type", "resource_name")


def denials(accesses: "DataFrame") -> "DataFrame":
    """Denied accesses by principal, operation and resource, the most frequent first.

    `remedy` is the ACL to add, or the DENY that has to go, as `TYPE|name|pattern|principal|host|
    operation|permission`. `accesses` is `observed.needed(...)`: what was only tried or listed is
    no denial.
    """
    denied = accesses.where(~f.col("allowed"))
    rows = denied.groupBy(*_KEYS).agg(
        f.sort_array(f.collect_set("host")).alias("hosts"),
        f.sort_array(f.collect_set("api")).alias("apis"),
        f.sum("requests").alias("requests"),
        f.min("first_seen").alias("first_seen"),
        f.max("last_seen").alias("last_seen"),
        f.max_by("rule", "last_seen").alias("rule"),
        f.min_by("example", "first_seen").alias("example"),
    )
    return rows.withColumn("remedy", _remedy()).orderBy(f.desc("requests"), *_KEYS)


def _remedy() -> "Column":
    added = f.concat_ws(
        "|",
        f.col("resource_type"),
        f.col("resource_name"),
        f.lit("LITERAL"),
        f.col("principal"),
        f.lit("*"),
        f.col("operation"),
        f.lit("ALLOW"),
    )
    is_deny = f.col("rule").endswith("|DENY")
    removed = f.concat(f.lit("remove "), f.col("rule"))
    return f.when(is_deny, removed).otherwise(f.concat(f.lit("add "), added))


def denial_trend(accesses: "DataFrame", interval: str) -> "DataFrame":
    """How often it was denied in each interval, in order of time; intervals without are left out.

    `accesses` is the table of that name, limited by `observed.needed`.
    """
    when = f.window("time", interval).start.alias("time")
    rows = accesses.where(~f.col("allowed")).groupBy(when, *_KEYS)
    return rows.agg(f.count("*").alias("requests")).orderBy("time", *_KEYS)
