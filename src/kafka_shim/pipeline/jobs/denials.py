"""`denials`: who was denied what, since when, and what would allow it."""

import argparse
from typing import TYPE_CHECKING

from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.engines.duckdb_engine import DuckDbEngine
from kafka_shim.pipeline.engines.engine import Relation, SqlEngine
from kafka_shim.pipeline.intervals import (
    describe_interval,
    interval_for_observation,
    interval_start_sql,
    parse_interval_seconds,
)
from kafka_shim.pipeline.job import Job
from kafka_shim.pipeline.lazy import pa
from kafka_shim.pipeline.options import (
    add_present_acl_options,
    check_no_bootstrap_server,
)
from kafka_shim.pipeline.report.charts import (
    RESOURCE,
    Chart,
    largest_bars_chart,
    stacked_column_chart,
    sum_by_columns,
)
from kafka_shim.pipeline.report.outcome import (
    Outcome,
    access_outcome,
)
from kafka_shim.pipeline.request_accesses import accesses_of_requests
from kafka_shim.text.message_text import count_with_noun

if TYPE_CHECKING:
    from kafka_shim.pipeline.trace_input import TraceInput

_KEYS = "principal, operation, resource_type, resource_name"


def denials(engine: DuckDbEngine, accesses: str, present_acls: AclSet | None = None) -> str:
    """Return denied accesses by principal, operation and resource, the most frequent first.

    `accesses` is `accesses_of_requests(...)`: accesses that were only tried or listed are not
    denials.
    `remedy` has steps such as `add {...}; remove {...}`, with ACLs as lines of YAML. If
    `present_acls` is given, the steps together allow the access from all `hosts`, and `also_opens`
    says what else they open. Otherwise `not_known` says what else may be needed.
    """
    from kafka_shim.pipeline.acls.remedy import CHECK, remedy_mapper

    findings = engine.sql(
        f"""
        select {_KEYS}, array_sort(array_distinct(array_agg(host))) as hosts,
            array_sort(array_distinct(array_agg(api))) as apis,
            cast(sum(requests) as bigint) as requests, min(first_seen) as first_seen,
            max(last_seen) as last_seen, max_by(rule, last_seen) as rule,
            min_by(example, first_seen) as example,
            array_sort(array_distinct(array_agg({engine.struct_expression(*CHECK)}))) as checks
        from {{accesses}} where not allowed group by {_KEYS}
        """,
        accesses=accesses,
    )
    schema = _result_schema()
    with_remedies = engine.map_batches(findings, remedy_mapper(present_acls, schema), schema)
    return engine.sql(f"select * from {{rows}} order by requests desc, {_KEYS}", rows=with_remedies)


def _result_schema() -> "pa.Schema":
    from kafka_shim.pipeline.acls.remedy import REMEDY

    time = pa.timestamp("us", tz="UTC")
    texts = pa.list_(pa.string())
    return pa.schema(
        [
            *((name, pa.string()) for name in ("principal", *RESOURCE)),
            ("hosts", texts),
            ("apis", texts),
            ("requests", pa.int64()),
            ("first_seen", time),
            ("last_seen", time),
            ("rule", pa.string()),
            ("example", pa.string()),
            *REMEDY,
        ]
    )


def denials_by_interval(engine: SqlEngine, accesses: Relation, interval: str) -> Relation:
    """Return the number of denials per interval, in order of time, without empty intervals.

    `accesses` is the table of that name, limited by `accesses_of_requests`.
    """
    start = interval_start_sql("time", parse_interval_seconds(interval) * 1_000_000)
    return engine.sql(
        f"""
        select interval_start as time, {_KEYS}, count(*) as requests
        from (select *, {start} as interval_start from {{accesses}} where not allowed) denied
        group by interval_start, {_KEYS} order by interval_start, {_KEYS}
        """,
        accesses=accesses,
    )


_SHOWN = (
    "principal",
    *RESOURCE,
    "requests",
    "first_seen",
    "last_seen",
    "remedy",
    "also_opens",
    "not_known",
)
_TREND_SHOWN = ("time", "principal", *RESOURCE, "requests")
_TREND_COLUMNS = ("time", "role", "allowed", "principal", *RESOURCE)


def _add_options(job: argparse.ArgumentParser) -> None:
    text = "Count denials per interval, such as `1 hour` (default: one total)"
    job.add_argument("--interval", metavar="TIME", help=text)
    add_present_acl_options(job, "to suggest complete fixes")


def _run(args: argparse.Namespace, trace_input: "TraceInput") -> Outcome:
    observation = trace_input.cached_observation(args)
    present = observation.read_acl_set_with_observed_settings(args.acls) if args.acls else None
    engine = observation.engine
    rows = (
        _denial_trend_of_trace(args, trace_input, args.interval)
        if args.interval
        else denials(engine, observation.request_accesses, present)
    )
    with engine.cached(rows) as cached:
        outcome = access_outcome(
            args, observation, cached, _TREND_SHOWN if args.interval else _SHOWN
        )
        outcome.notes.append(count_with_noun(engine.count_rows(cached), "finding"))
        if args.html:
            outcome.interval = args.interval or interval_for_observation(
                observation.totals_and_settings
            )
            outcome.trend = engine.rows(
                cached
                if args.interval
                else _denial_trend_of_trace(args, trace_input, outcome.interval)
            )
    return outcome


def _denial_trend_of_trace(
    args: argparse.Namespace, trace_input: "TraceInput", interval: str
) -> str:
    accesses = accesses_of_requests(
        trace_input.reader,
        trace_input.table("accesses", *_TREND_COLUMNS),
        with_listed_accesses=args.lists,
    )
    return trace_input.to_deciding_engine(
        denials_by_interval(trace_input.reader, accesses, interval)
    )


def _denial_charts(outcome: Outcome) -> list[Chart]:
    points = [(row["time"], row["principal"], row["requests"]) for row in outcome.trend]
    step = parse_interval_seconds(outcome.interval)
    return [
        stacked_column_chart(
            f"Denials {describe_interval(outcome.interval)}, by principal", "denials", points, step
        ),
        largest_bars_chart(
            "Denials by principal", "denials", sum_by_columns(outcome.rows, "principal")
        ),
        largest_bars_chart(
            "Denials by resource", "denials", sum_by_columns(outcome.rows, *RESOURCE)
        ),
    ]


JOB = Job(
    "List who was denied what, since when, and what would allow it",
    _add_options,
    _run,
    _denial_charts,
    check_no_bootstrap_server,
)
