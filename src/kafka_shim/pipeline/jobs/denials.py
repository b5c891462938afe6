"""Denials by principal, operation and resource, with hosts, times and the remedy."""

from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as f
from pyspark.sql.pandas.functions import arrow_udf

from kafka_shim.pipeline.acls.acl_set import AclSet, packed
from kafka_shim.pipeline.acls.remedy import QUESTIONS, remedies

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_KEYS = ("principal", "operation", "resource_type", "resource_name")
_ASKED = ("host", "api_key", "instead", "rule")


def denials(accesses: "DataFrame", present: AclSet | None = None) -> "DataFrame":
    """Return denied accesses by principal, operation and resource, the most frequent first.

    `accesses` is `observed.needed(...)`: accesses that were only tried or listed are not denials.
    `remedy` has steps such as `remove RULE; add RULE`, where a rule is
    `TYPE|name|pattern|principal|host|operation|permission`. If `present` (the present ACLs) is
    given, the steps together allow the access from all `hosts`. Otherwise `not_known` says what
    else may be needed.
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
        f.sort_array(f.collect_set(f.struct(*_ASKED))).alias("asked"),
    )
    with_remedy = rows.withColumn("found", _remedy(present))
    found = with_remedy.select(
        *(name for name in rows.columns if name != "asked"), "found.remedy", "found.not_known"
    )
    return found.orderBy(f.desc("requests"), *_KEYS)


def _remedy(present: AclSet | None) -> "Column":
    known = None if present is None else packed(present)

    def found(*questions: pa.Array) -> pa.Array:
        return remedies(None if known is None else known.authorizer(), questions)

    tell = arrow_udf(found, "remedy string, not_known string")  # type: ignore[call-overload]  # its stub wants an argument that it warns of
    column: Column = tell.asNondeterministic()(*QUESTIONS)
    return column


def denial_trend(accesses: "DataFrame", interval: str) -> "DataFrame":
    """Return the number of denials per interval, in order of time, without empty intervals.

    `accesses` is the table of that name, limited by `observed.needed`.
    """
    when = f.window("time", interval).start.alias("time")
    rows = accesses.where(~f.col("allowed")).groupBy(when, *_KEYS)
    return rows.agg(f.count("*").alias("requests")).orderBy("time", *_KEYS)
