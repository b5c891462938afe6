"""The distinct accesses of a trace: what all ACL questions are asked about."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from kafka_shim.pipeline.rows.roles import EITHER, LISTED, REQUIRED
from kafka_shim.pipeline.spark.source import trace_table
from kafka_shim.pipeline.tables import ACCESSES, OBSERVED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MEASURES = ("requests", "first_seen", "last_seen", "example")


def observed(
    spark: "SparkSession", paths: list[str], options: Mapping[str, str] | None = None
) -> "DataFrame":
    """The distinct accesses of traces; counted in the reader first, so little is shuffled."""
    return merged(trace_table(spark, "observed", paths, options))


def counted(accesses: "DataFrame") -> "DataFrame":
    """Rows of `accesses` as rows of `observed`, each one request.

    Those of which it is not known how they were decided are left out, as by the reader of traces.
    """
    kept = [name for name in OBSERVED.names if name in ACCESSES.names]
    rows = accesses.where(f.col("allowed").isNotNull()).select(
        *kept,
        f.lit(1).cast("long").alias("requests"),
        f.col("time").alias("first_seen"),
        f.col("time").alias("last_seen"),
        f.concat("writer", f.lit("/"), "connection", f.lit("#"), "sequence").alias("example"),
    )
    return rows.select(*OBSERVED.names)


def merged(counts: "DataFrame") -> "DataFrame":
    """Equal rows added up, wherever they were counted."""
    keys = [name for name in OBSERVED.names if name not in _MEASURES]
    grouped = counts.groupBy(*keys).agg(
        f.sum("requests").alias("requests"),
        f.min("first_seen").alias("first_seen"),
        f.max("last_seen").alias("last_seen"),
        f.min_by("example", "first_seen").alias("example"),
    )
    return grouped.select(*OBSERVED.names)


def needed(accesses: "DataFrame", *, with_lists: bool = False) -> "DataFrame":
    """Those that a request needed; with the names that lists would show, if they count too."""
    wanted = [REQUIRED, EITHER, LISTED] if with_lists else [REQUIRED, EITHER]
    return accesses.where(f.col("role").isin(*wanted))


def setting(accesses: "DataFrame") -> tuple[tuple[str, ...], bool]:
    """The super users that were seen, and whether everyone was allowed where no ACL was."""
    rows = accesses.where(f.col("rule").isin("SuperUser", "DefaultAllow"))
    found = rows.select("principal", "rule").distinct().collect()
    users = {row["principal"] for row in found if row["rule"] == "SuperUser"}
    return tuple(sorted(users)), any(row["rule"] == "DefaultAllow" for row in found)
