"""`readiness`: clients that an upgrade would break, and rules that change with it."""

import argparse
from typing import TYPE_CHECKING

from kafka_shim.pipeline.commands.command import Command
from kafka_shim.pipeline.commands.options import add_fail
from kafka_shim.pipeline.report.charts import Chart, bars
from kafka_shim.pipeline.report.outcome import Outcome
from kafka_shim.pipeline.report.totals import totals

if TYPE_CHECKING:
    from kafka_shim.pipeline.commands.reading import Source

_SHOWN = (
    *("finding", "api", "api_version", "principal"),
    *("software_name", "software_version", "client_id", "requests", "detail"),
)


def _add_options(job: argparse.ArgumentParser) -> None:
    job.add_argument("--from", dest="present", required=True, metavar="RELEASE")
    job.add_argument("--to", dest="target", required=True, metavar="RELEASE")
    add_fail(job)


def _run(args: argparse.Namespace, source: "Source") -> Outcome:
    from kafka_shim.pipeline.commands.outcomes import table_outcome
    from kafka_shim.pipeline.jobs.readiness import readiness

    found = readiness(source.table("clients"), args.present, args.target)
    return table_outcome(args, source, found, _SHOWN)


def _charts(outcome: Outcome) -> list[Chart]:
    apis = totals(outcome.rows, "finding", "api", "api_version")
    return [
        bars("Requests concerned, by API and version", "requests", apis),
        bars("Requests concerned, by principal", "requests", totals(outcome.rows, "principal")),
    ]


COMMAND = Command(
    "clients that an upgrade would break, and rules that change with it",
    _add_options,
    _run,
    _charts,
)
