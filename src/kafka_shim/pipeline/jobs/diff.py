"""`diff`: compare the permissions and responses in two traces of the same workload."""

import argparse
from typing import TYPE_CHECKING

from kafka_shim.pipeline.job import Job
from kafka_shim.pipeline.lazy import f
from kafka_shim.pipeline.options import absolute_path, add_fail_option
from kafka_shim.pipeline.report.charts import Chart, bar_chart, sum_by_columns
from kafka_shim.pipeline.report.outcome import Outcome, left_out_access_notes, table_outcome

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafka_shim.pipeline.trace_input import TraceInput

_ACCESS = ("principal", "operation", "resource_type", "resource_name")
_COLUMNS = ("difference", "principal", "what", "first", "second")


def diff(
    first: "tuple[DataFrame, DataFrame]", second: "tuple[DataFrame, DataFrame]"
) -> "DataFrame":
    """Return one row per difference; each side is (observed.accesses_of_requests(...), responses).

    `access` is `allowed`, `denied`, `both`, or null if the access did not occur. `responses` has
    the distinct error codes in the responses of an API. Hosts, times and counts are not compared.
    """
    accesses = _differences(_access_outcomes(first[0]), _access_outcomes(second[0]), "access")
    responses = _differences(
        _response_outcomes(first[1]), _response_outcomes(second[1]), "responses"
    )
    return accesses.unionByName(responses).orderBy("difference", "principal", "what")


def _access_outcomes(accesses: "DataFrame") -> "DataFrame":
    outcome = f.when(f.size("outcomes") > 1, "both").otherwise(
        f.when(f.col("outcomes")[0], "allowed").otherwise("denied")
    )
    rows = accesses.groupBy(*_ACCESS).agg(f.collect_set("allowed").alias("outcomes"))
    what = f.concat_ws(" ", "operation", f.concat_ws(":", "resource_type", "resource_name"))
    return rows.select("principal", what.alias("what"), outcome.alias("outcome"))


def _response_outcomes(responses: "DataFrame") -> "DataFrame":
    codes = f.explode_outer("error_codes").alias("code")
    rows = responses.select("principal", "api", codes).groupBy("principal", "api")
    codes_by_api = rows.agg(
        f.sort_array(f.collect_set(f.coalesce("code", f.lit(0)))).alias("codes")
    )
    outcome = f.concat_ws(",", f.col("codes").cast("array<string>"))
    return codes_by_api.select("principal", f.col("api").alias("what"), outcome.alias("outcome"))


def _differences(first: "DataFrame", second: "DataFrame", difference: str) -> "DataFrame":
    left = first.withColumnRenamed("outcome", "first")
    right = second.withColumnRenamed("outcome", "second")
    rows = left.join(right, ["principal", "what"], "full")
    changed = rows.where(~f.col("first").eqNullSafe(f.col("second")))
    return changed.withColumn("difference", f.lit(difference)).select(*_COLUMNS)


_SHOWN = ("difference", "principal", "what", "first", "second")


def _add_options(job: argparse.ArgumentParser) -> None:
    text = "the second trace, to compare with"
    job.add_argument(
        "--with", dest="other", required=True, metavar="TRACE", type=absolute_path, help=text
    )
    add_fail_option(job)


def _run(args: argparse.Namespace, trace_input: "TraceInput") -> Outcome:
    from kafka_shim.pipeline.trace_input import TraceInput

    def side(trace: TraceInput) -> "tuple[DataFrame, DataFrame]":
        return trace.observation(args).accesses, trace.table("responses")

    other = TraceInput(trace_input.spark, [args.other], trace_input.options)
    outcome = table_outcome(args, trace_input, diff(side(trace_input), side(other)), _SHOWN)
    for trace in (trace_input, other):
        head = trace.observation(args).head
        outcome.notes += [f"{trace.paths[0]}: {note}" for note in left_out_access_notes(head)]
    other.unpersist()
    return outcome


def _charts(outcome: Outcome) -> list[Chart]:
    kinds = sum_by_columns(outcome.rows, "difference", "principal", value="")
    return [bar_chart("Differences by kind and principal", "differences", kinds)]


JOB = Job(
    "compare two traces of the same workload: permissions and responses that differ",
    _add_options,
    _run,
    _charts,
)
