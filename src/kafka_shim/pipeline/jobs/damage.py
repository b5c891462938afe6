"""`damage`: list the parts of a trace that cannot be read."""

import argparse
from typing import TYPE_CHECKING

from kafka_shim.pipeline.job import Job
from kafka_shim.pipeline.options import add_fail_option
from kafka_shim.pipeline.report.outcome import Outcome, table_outcome

if TYPE_CHECKING:
    from kafka_shim.pipeline.trace_input import TraceInput

_SHOWN = ("path", "at", "length", "reason", "is_tail")


def _run(args: argparse.Namespace, trace_input: "TraceInput") -> Outcome:
    in_order = trace_input.engine.sql(
        "select * from {damage} order by 1, 2",  # path and position, whose names are words of SQL
        damage=trace_input.to_deciding_engine(trace_input.table("damage")),
    )
    return table_outcome(args, trace_input, in_order, _SHOWN)


JOB = Job(
    "List the parts of a trace that cannot be read, with the reason",
    add_fail_option,
    _run,
)
