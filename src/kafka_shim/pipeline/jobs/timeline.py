"""`timeline`: rates, errors and latencies over time, by principal, client and API."""

import argparse
from typing import TYPE_CHECKING, Any

from kafka_shim.pipeline.engines.engine import Relation, SqlEngine
from kafka_shim.pipeline.intervals import (
    describe_interval,
    interval_start_sql,
    parse_interval_seconds,
)
from kafka_shim.pipeline.job import Job
from kafka_shim.pipeline.report.charts import Chart, largest_series_line_chart, stacked_column_chart
from kafka_shim.pipeline.report.login_requests import separate_login_requests
from kafka_shim.pipeline.report.outcome import Outcome, table_outcome

if TYPE_CHECKING:
    from kafka_shim.pipeline.trace_input import TraceInput

_KEYS = ("principal", "client_id", "api")
_REQUEST = ("writer", "connection", "sequence")
_ANSWERED = ("time", *_KEYS, "error_codes", "latency_us", "bytes")
REQUEST_COLUMNS = (*_REQUEST, "time", *_KEYS)
RESPONSE_COLUMNS = (*_REQUEST, *_ANSWERED)


def answered_requests(engine: SqlEngine, requests: Relation, responses: Relation) -> Relation:
    """Add the requests without a response (acks=0, or in flight at the end) to the responses.

    Both are tables of that name; a request without a response counts at its own time.
    """
    same = " and ".join(f"q.{name} = r.{name}" for name in _REQUEST)
    columns = ", ".join(_ANSWERED)
    return engine.sql(
        f"""
        select {columns} from {{responses}}
        union all
        select time, {", ".join(_KEYS)}, null as error_codes, null as latency_us, null as bytes
        from {{requests}} q anti join {{responses}} r on {same}
        """,
        requests=requests,
        responses=responses,
    )


def timeline_by_client(engine: SqlEngine, responses: Relation, interval_us: int) -> Relation:
    """Return one row per interval, principal, client id and API, in order of time.

    `responses` is the table `responses`, or the result of
    `answered_requests`. Latencies are microseconds between request and
    response at the recorder. Latency and client id are null if the request was in another piece of
    the trace. `errors` counts responses that contain an error.
    """
    keys = ", ".join(_KEYS)
    return engine.sql(
        f"""
        select interval_start as time, {keys}, count(*) as requests,
            count(case when size(error_codes) > 0 then 1 end) as errors,
            percentile_approx(latency_us, 0.5) as latency_us_median,
            percentile_approx(latency_us, 0.99) as latency_us_99,
            max(latency_us) as latency_us_max, cast(sum(bytes) as bigint) as response_bytes
        from (select *, {interval_start_sql("time", interval_us)} as interval_start
            from {{responses}}) r
        group by interval_start, {keys} order by interval_start, {keys}
        """,
        responses=responses,
    )


_SHOWN = (
    *("time", "principal", "client_id", "api"),
    *("requests", "errors", "latency_us_median", "latency_us_99"),
)

INTERVAL_HELP = "Length of each interval, such as `10 seconds` (default: 1 minute)"


def _add_interval_option(job: argparse.ArgumentParser) -> None:
    job.add_argument("--interval", default="1 minute", metavar="TIME", help=INTERVAL_HELP)


def _run(args: argparse.Namespace, trace_input: "TraceInput") -> Outcome:
    requests = trace_input.table("requests", *REQUEST_COLUMNS)
    responses = trace_input.table("responses", *RESPONSE_COLUMNS)
    engine = trace_input.reader
    answered = answered_requests(engine, requests, responses)
    interval_us = parse_interval_seconds(args.interval) * 1_000_000
    intervals = timeline_by_client(engine, answered, interval_us)
    outcome = table_outcome(args, trace_input, trace_input.to_deciding_engine(intervals), _SHOWN)
    outcome.interval = args.interval
    return outcome


def _timeline_charts(outcome: Outcome) -> list[Chart]:
    step, every = parse_interval_seconds(outcome.interval), describe_interval(outcome.interval)
    rows = separate_login_requests(outcome.rows)

    def points(series: str, value: str) -> list[tuple[Any, str, float]]:
        return [(row["time"], str(row[series] or "unknown"), row[value]) for row in rows]

    charts = [
        stacked_column_chart(
            f"Requests {every}, by {words}", "requests", points(series, "requests"), step
        )
        for series, words in (("principal", "principal"), ("client_id", "client"), ("api", "API"))
    ]
    if any(row["errors"] for row in outcome.rows):
        title = f"Responses with errors {every}, by API"
        charts.append(stacked_column_chart(title, "responses", points("api", "errors"), step))
    slowest: dict[tuple[Any, str], float] = {}
    for row in outcome.rows:
        if row["latency_us_99"] is not None:
            key = (row["time"], row["api"])
            slowest[key] = max(slowest.get(key, 0), row["latency_us_99"] / 1000)
    latencies = [(time, api, value) for (time, api), value in slowest.items()]
    title = f"Latency {every}: 99th percentile of the slowest client, by API"
    return (
        [*charts, largest_series_line_chart(title, "milliseconds", latencies, step)]
        if latencies
        else charts
    )


JOB = Job(
    "Show rates, errors and latencies over time, by principal, client and API",
    _add_interval_option,
    _run,
    _timeline_charts,
)
