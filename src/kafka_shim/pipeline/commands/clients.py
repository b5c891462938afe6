"""`clients`: client software, and the versions of each API that it sends."""

import argparse
from typing import TYPE_CHECKING

from kafka_shim.pipeline.commands.command import Command
from kafka_shim.pipeline.commands.options import no_options
from kafka_shim.pipeline.report.charts import Chart, bars
from kafka_shim.pipeline.report.outcome import Outcome
from kafka_shim.pipeline.report.totals import totals

if TYPE_CHECKING:
    from kafka_shim.pipeline.commands.reading import Source

_SHOWN = (
    *("principal", "software_name", "software_version", "client_id"),
    *("api", "versions", "requests", "first_seen", "last_seen"),
)


def _run(args: argparse.Namespace, source: "Source") -> Outcome:
    from kafka_shim.pipeline.commands.outcomes import table_outcome
    from kafka_shim.pipeline.jobs.clients import clients

    return table_outcome(args, source, clients(source.table("clients")), _SHOWN)


def _charts(outcome: Outcome) -> list[Chart]:
    software = totals(outcome.rows, "software_name", "software_version")
    return [
        bars("Requests by client software", "requests", software),
        bars("Requests by principal", "requests", totals(outcome.rows, "principal")),
    ]


COMMAND = Command(
    "list client software and the versions of each API that it uses", no_options, _run, _charts
)
