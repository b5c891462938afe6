"""The distinct accesses of a trace, with which all jobs about ACLs work."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from kafka_shim.pipeline.rows.access_roles import EITHER, LISTED, REQUIRED, UNATTRIBUTED
from kafka_shim.pipeline.spark.data_source import trace_table
from kafka_shim.pipeline.tables import ACCESSES, OBSERVED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MEASURES = ("requests", "first_seen", "last_seen", "example")


def distinct_accesses(
    spark: "SparkSession", paths: list[str], options: Mapping[str, str] | None = None
) -> "DataFrame":
    """Return the distinct accesses of traces; the reader counts first, so Spark shuffles little."""
    return sum_equal_accesses(trace_table(spark, "observed", paths, options))


def decided_accesses_as_observed_rows(accesses: "DataFrame") -> "DataFrame":
    """Turn rows of `accesses` into rows of `observed`, each for one request.

    Accesses with an unknown decision are left out, as by the reader of traces.
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


def sum_equal_accesses(counts: "DataFrame") -> "DataFrame":
    """Sum equal rows."""
    keys = [name for name in OBSERVED.names if name not in _MEASURES]
    grouped = counts.groupBy(*keys).agg(
        f.sum("requests").alias("requests"),
        f.min("first_seen").alias("first_seen"),
        f.max("last_seen").alias("last_seen"),
        f.min_by("example", "first_seen").alias("example"),
    )
    return grouped.select(*OBSERVED.names)


def accesses_of_requests(
    accesses: "DataFrame", *, with_listed_accesses: bool = False
) -> "DataFrame":
    """Return the accesses that requests needed; `with_listed_accesses` adds the
    names that lists would show.
    """
    return accesses.where(
        f.col("role").isin(*roles_of_requests(with_listed_accesses=with_listed_accesses))
    )


def roles_of_requests(*, with_listed_accesses: bool) -> tuple[str, ...]:
    """Return the roles of the accesses that `accesses_of_requests` returns."""
    needed = (REQUIRED, EITHER, UNATTRIBUTED)
    return (*needed, LISTED) if with_listed_accesses else needed


def observed_super_users_and_allow_everyone(accesses: "DataFrame") -> tuple[tuple[str, ...], bool]:
    """Return the observed super users, and whether resources without ACLs were open to everyone."""
    rows = accesses.where(f.col("rule").isin("SuperUser", "DefaultAllow"))
    found = rows.select("principal", "rule").distinct().collect()
    users = {row["principal"] for row in found if row["rule"] == "SuperUser"}
    return tuple(sorted(users)), any(row["rule"] == "DefaultAllow" for row in found)
