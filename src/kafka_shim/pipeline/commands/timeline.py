"""`timeline`: rates, errors and latencies over time, by principal, client and API."""

import argparse
from typing import TYPE_CHECKING, Any

from kafka_shim.pipeline.commands.command import Command
from kafka_shim.pipeline.intervals import interval_seconds
from kafka_shim.pipeline.report.charts import Chart, columns, lines
from kafka_shim.pipeline.report.outcome import Outcome

if TYPE_CHECKING:
    from kafka_shim.pipeline.commands.reading import Source

_SHOWN = (
    *("time", "principal", "client_id", "api"),
    *("requests", "errors", "latency_us_median", "latency_us_99"),
)

INTERVAL_HELP = "length of each interval, such as `10 seconds` (default: 1 minute)"


def _add_options(job: argparse.ArgumentParser) -> None:
    job.add_argument("--interval", default="1 minute", metavar="TIME", help=INTERVAL_HELP)


def _run(args: argparse.Namespace, source: "Source") -> Outcome:
    from kafka_shim.pipeline.commands.outcomes import table_outcome
    from kafka_shim.pipeline.jobs.timeline import (
        REQUEST_COLUMNS,
        RESPONSE_COLUMNS,
        exchanges,
        timeline,
    )

    requests = source.table("requests", *REQUEST_COLUMNS)
    responses = source.table("responses", *RESPONSE_COLUMNS)
    found = timeline(exchanges(requests, responses), args.interval)
    outcome = table_outcome(args, source, found, _SHOWN)
    outcome.interval = args.interval
    return outcome


def _charts(outcome: Outcome) -> list[Chart]:
    step, every = interval_seconds(outcome.interval), f"in each {outcome.interval}"

    def points(series: str, value: str) -> list[tuple[Any, str, float]]:
        return [(row["time"], str(row[series] or "unknown"), row[value]) for row in outcome.rows]

    charts = [
        columns(f"Requests {every}, by {words}", "requests", points(series, "requests"), step)
        for series, words in (("principal", "principal"), ("client_id", "client"), ("api", "API"))
    ]
    if any(row["errors"] for row in outcome.rows):
        title = f"Responses with errors {every}, by API"
        charts.append(columns(title, "responses", points("api", "errors"), step))
    slowest: dict[tuple[Any, str], float] = {}
    for row in outcome.rows:
        if row["latency_us_99"] is not None:
            key = (row["time"], row["api"])
            slowest[key] = max(slowest.get(key, 0), row["latency_us_99"] / 1000)
    latencies = [(when, api, value) for (when, api), value in slowest.items()]
    title = f"Latency {every}: 99th percentile of the slowest client, by API"
    return [*charts, lines(title, "milliseconds", latencies, step)] if latencies else charts


COMMAND = Command(
    "show rates, errors and latencies over time, by principal, client and API",
    _add_options,
    _run,
    _charts,
)
