"""`damage`: list the parts of a trace that cannot be read."""

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


COMMAND = Command("list the parts of a trace that cannot be read, with the reason", add_fail, _run)
