"""`damage`: what could not be read of a trace, and why."""

import argparse
from typing import TYPE_CHECKING

from kafka_shim.pipeline.commands.command import Command
from kafka_shim.pipeline.commands.options import add_fail
from kafka_shim.pipeline.report.outcome import Outcome

if TYPE_CHECKING:
    from kafka_shim.pipeline.commands.reading import Source

_SHOWN = ("path", "at", "length", "reason", "is_tail")


def _run(args: argparse.Namespace, source: "Source") -> Outcome:
    from kafka_shim.pipeline.commands.outcomes import table_outcome

    return table_outcome(args, source, source.table("damage").orderBy("path", "at"), _SHOWN)


COMMAND = Command("what could not be read of a trace, and why", add_fail, _run)
