"""`diff`: compare the permissions and responses in two traces of the same workload."""

import argparse
from typing import TYPE_CHECKING

from kafka_shim.pipeline.job import Job
from kafka_shim.pipeline.lazy import f
from kafka_shim.pipeline.options import add_fail_option
from kafka_shim.pipeline.report.charts import Chart, largest_bars_chart, sum_by_columns
from kafka_shim.pipeline.report.outcome import (
    Outcome,
    left_out_notes,
    table_outcome_with_fail_option,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafka_shim.pipeline.trace_input import TraceInput

_ACCESS = ("principal", "operation", "resource_type", "resource_name")
_COLUMNS = ("difference", "principal", "what", "before", "after")


def diff(
    before: "tuple[DataFrame, DataFrame]",
    after: "tuple[DataFrame, DataFrame]",
) -> "DataFrame":
    """Return one row per difference; each side is (accesses_of_requests(...), responses).

    `access` is `allowed`, `denied`, `both`, or null if the access did not occur. `responses` has
    the distinct error codes in the responses of an API. Hosts, times and counts are not compared.
    """
    accesses = _differing_outcomes(
        _decisions_by_access(before[0]),
        _decisions_by_access(after[0]),
        "access",
    )
    responses = _differing_outcomes(
        _error_codes_by_principal(before[1]),
        _error_codes_by_principal(after[1]),
        "responses",
    )
    return accesses.unionByName(responses).orderBy("difference", "principal", "what")


def _decisions_by_access(accesses: "DataFrame") -> "DataFrame":
    outcome = f.when(f.size("outcomes") > 1, "both").otherwise(
        f.when(f.col("outcomes")[0], "allowed").otherwise("denied")
    )
    rows = accesses.groupBy(*_ACCESS).agg(f.collect_set("allowed").alias("outcomes"))
    what = f.concat_ws(" ", "operation", f.concat_ws(":", "resource_type", "resource_name"))
    return rows.select("principal", what.alias("what"), outcome.alias("outcome"))


def _error_codes_by_principal(responses: "DataFrame") -> "DataFrame":
    codes = f.explode_outer("error_codes").alias("code")
    rows = responses.select("principal", "api", codes).groupBy("principal", "api")
    codes_by_api = rows.agg(
        f.sort_array(f.collect_set(f.coalesce("code", f.lit(0)))).alias("codes")
    )
    outcome = f.concat_ws(",", f.col("codes").cast("array<string>"))
    return codes_by_api.select("principal", f.col("api").alias("what"), outcome.alias("outcome"))


def _differing_outcomes(before: "DataFrame", after: "DataFrame", kind: str) -> "DataFrame":
    left = before.withColumnRenamed("outcome", "before")
    right = after.withColumnRenamed("outcome", "after")
    rows = left.join(right, ["principal", "what"], "full")
    changed = rows.where(~f.col("before").eqNullSafe(f.col("after")))
    return changed.withColumn("difference", f.lit(kind)).select(*_COLUMNS)


def _run(args: argparse.Namespace, trace_input: "TraceInput") -> Outcome:
    from kafka_shim.pipeline.trace_input import spark_trace_input

    def side(trace: "TraceInput") -> "tuple[DataFrame, DataFrame]":
        return trace.cached_observation(args).request_accesses, trace.table("responses")

    after = spark_trace_input(trace_input.spark, [args.compared], trace_input.options)
    outcome = table_outcome_with_fail_option(
        args, trace_input, diff(side(trace_input), side(after)), _COLUMNS
    )
    for trace in (trace_input, after):
        head = trace.cached_observation(args).totals_and_settings
        outcome.notes += [f"{trace.paths[0]}: {note}" for note in left_out_notes(head)]
    after.release_observation()
    return outcome


def _differences_chart(outcome: Outcome) -> list[Chart]:
    kinds = sum_by_columns(outcome.rows, "difference", "principal", value_column="")
    return [largest_bars_chart("Differences by kind and principal", "differences", kinds)]


JOB = Job(
    "Compare two traces of the same workload: permissions and responses (ACLs: `policy diff`)",
    add_fail_option,
    _run,
    _differences_chart,
    compares_two_traces=True,
)
