"""`denials`: who was denied what, since when, and what would allow it."""

import argparse
from typing import TYPE_CHECKING

from kafka_shim.pipeline.commands.command import Command
from kafka_shim.pipeline.commands.options import add_present_acls, check_present_acls
from kafka_shim.pipeline.intervals import interval_seconds, observed_interval
from kafka_shim.pipeline.report.charts import Chart, bars, columns
from kafka_shim.pipeline.report.outcome import Outcome
from kafka_shim.pipeline.report.totals import RESOURCE, totals

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafka_shim.pipeline.commands.reading import Source

_SHOWN = ("principal", *RESOURCE, "requests", "first_seen", "last_seen", "remedy", "not_known")
_TREND_SHOWN = ("time", "principal", *RESOURCE, "requests")
_TREND_COLUMNS = ("time", "role", "allowed", "principal", *RESOURCE)


def _add_options(job: argparse.ArgumentParser) -> None:
    text = "count denials per interval, such as `1 hour` (default: one total)"
    job.add_argument("--interval", metavar="TIME", help=text)
    add_present_acls(job, "to suggest complete fixes")


def _run(args: argparse.Namespace, source: "Source") -> Outcome:
    from kafka_shim.pipeline.commands.outcomes import access_outcome, kept
    from kafka_shim.pipeline.jobs.denials import denials

    seen = source.observation(args)
    present = seen.read_acl_set(args.acls) if args.acls else None
    found = (
        _trend(args, source, args.interval) if args.interval else denials(seen.accesses, present)
    )
    with kept(found) as frame:
        outcome = access_outcome(args, seen, frame, _TREND_SHOWN if args.interval else _SHOWN)
        outcome.notes.append(f"{frame.count()} findings")
        if args.html:
            outcome.interval = args.interval or observed_interval(seen.head)
            trend = frame if args.interval else _trend(args, source, outcome.interval)
            outcome.trend = [row.asDict() for row in trend.collect()]
    return outcome


def _trend(args: argparse.Namespace, source: "Source", interval: str) -> "DataFrame":
    from kafka_shim.pipeline.jobs.denials import denial_trend
    from kafka_shim.pipeline.spark.observed import needed

    rows = source.table("accesses", *_TREND_COLUMNS)
    return denial_trend(needed(rows, with_lists=args.lists), interval)


def _charts(outcome: Outcome) -> list[Chart]:
    points = [(row["time"], row["principal"], row["requests"]) for row in outcome.trend]
    step = interval_seconds(outcome.interval)
    return [
        columns(f"Denials in each {outcome.interval}, by principal", "denials", points, step),
        bars("Denials by principal", "denials", totals(outcome.rows, "principal")),
        bars("Denials by resource", "denials", totals(outcome.rows, *RESOURCE)),
    ]


COMMAND = Command(
    "list who was denied what, since when, and what would allow it",
    _add_options,
    _run,
    _charts,
    check_present_acls,
)
