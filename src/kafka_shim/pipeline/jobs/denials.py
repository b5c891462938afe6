"""`denials`: who was denied what, since when, and what would allow it."""

import argparse
from typing import TYPE_CHECKING

from kafka_shim.pipeline.acls.acl_set import AclSet, pack_acl_set
from kafka_shim.pipeline.intervals import interval_for_observation, parse_interval_seconds
from kafka_shim.pipeline.job import Job
from kafka_shim.pipeline.lazy import f, pa
from kafka_shim.pipeline.options import (
    add_present_acl_file_and_broker_options,
    check_no_bootstrap_server,
)
from kafka_shim.pipeline.report.charts import (
    RESOURCE,
    Chart,
    largest_bars_chart,
    stacked_column_chart,
    sum_or_count_by_columns,
)
from kafka_shim.pipeline.report.outcome import (
    Outcome,
    access_outcome_with_observation_notes,
    cached_in_spark,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from kafka_shim.pipeline.trace_input import TraceOrLake

_KEYS = ("principal", "operation", "resource_type", "resource_name")
_CHECK = ("host", "api_key", "instead", "rule")


def denials(accesses: "DataFrame", present_acls: AclSet | None = None) -> "DataFrame":
    """Return denied accesses by principal, operation and resource, the most frequent first.

    `accesses` is `accesses_of_requests(...)`: accesses that were only tried or listed are not
    denials.
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
        f.sort_array(f.collect_set(f.struct(*_CHECK))).alias("asked"),
    )
    with_remedy = rows.withColumn("suggestion", _remedy_and_unknown_steps_column(present_acls))
    selected = with_remedy.select(
        *(name for name in rows.columns if name != "asked"),
        "suggestion.remedy",
        "suggestion.not_known",
    )
    return selected.orderBy(f.desc("requests"), *_KEYS)


def _remedy_and_unknown_steps_column(present_acls: AclSet | None) -> "Column":
    from pyspark.sql.pandas.functions import arrow_udf

    from kafka_shim.pipeline.acls.remedy import QUESTIONS, remedy_and_unknown_step_texts

    known = None if present_acls is None else pack_acl_set(present_acls)

    def remedies_of(*questions: pa.Array) -> pa.Array:
        return remedy_and_unknown_step_texts(
            None if known is None else known.cached_authorizer(), questions
        )

    remedy_of = arrow_udf(remedies_of, "remedy string, not_known string")  # type: ignore[call-overload]  # its stub wants an argument that it warns of
    column: Column = remedy_of.asNondeterministic()(*QUESTIONS)
    return column


def denials_by_interval_and_access(accesses: "DataFrame", interval: str) -> "DataFrame":
    """Return the number of denials per interval, in order of time, without empty intervals.

    `accesses` is the table of that name, limited by `accesses_of_requests`.
    """
    when = f.window("time", interval).start.alias("time")
    rows = accesses.where(~f.col("allowed")).groupBy(when, *_KEYS)
    return rows.agg(f.count("*").alias("requests")).orderBy("time", *_KEYS)


_SHOWN = ("principal", *RESOURCE, "requests", "first_seen", "last_seen", "remedy", "not_known")
_TREND_SHOWN = ("time", "principal", *RESOURCE, "requests")
_TREND_COLUMNS = ("time", "role", "allowed", "principal", *RESOURCE)


def _add_interval_and_present_acl_options(job: argparse.ArgumentParser) -> None:
    text = "count denials per interval, such as `1 hour` (default: one total)"
    job.add_argument("--interval", metavar="TIME", help=text)
    add_present_acl_file_and_broker_options(job, "to suggest complete fixes")


def _run_total_or_trend(args: argparse.Namespace, trace_input: "TraceOrLake") -> Outcome:
    observation = trace_input.cached_observation(args)
    present = observation.read_acl_set_with_observed_settings(args.acls) if args.acls else None
    rows = (
        _denial_trend_of_trace(args, trace_input, args.interval)
        if args.interval
        else denials(observation.request_accesses, present)
    )
    with cached_in_spark(rows) as frame:
        outcome = access_outcome_with_observation_notes(
            args, observation, frame, _TREND_SHOWN if args.interval else _SHOWN
        )
        outcome.notes.append(f"{frame.count()} findings")
        if args.html:
            outcome.interval = args.interval or interval_for_observation(
                observation.totals_and_settings
            )
            trend = (
                frame
                if args.interval
                else _denial_trend_of_trace(args, trace_input, outcome.interval)
            )
            outcome.trend = [row.asDict() for row in trend.collect()]
    return outcome


def _denial_trend_of_trace(
    args: argparse.Namespace, trace_input: "TraceOrLake", interval: str
) -> "DataFrame":
    from kafka_shim.pipeline.spark.observed_accesses import accesses_of_requests

    rows = trace_input.table("accesses", *_TREND_COLUMNS)
    return denials_by_interval_and_access(
        accesses_of_requests(rows, with_listed_accesses=args.lists), interval
    )


def _denial_charts(outcome: Outcome) -> list[Chart]:
    points = [(row["time"], row["principal"], row["requests"]) for row in outcome.trend]
    step = parse_interval_seconds(outcome.interval)
    return [
        stacked_column_chart(
            f"Denials in each {outcome.interval}, by principal", "denials", points, step
        ),
        largest_bars_chart(
            "Denials by principal", "denials", sum_or_count_by_columns(outcome.rows, "principal")
        ),
        largest_bars_chart(
            "Denials by resource", "denials", sum_or_count_by_columns(outcome.rows, *RESOURCE)
        ),
    ]


JOB = Job(
    "list who was denied what, since when, and what would allow it",
    _add_interval_and_present_acl_options,
    _run_total_or_trend,
    _denial_charts,
    check_no_bootstrap_server,
)
