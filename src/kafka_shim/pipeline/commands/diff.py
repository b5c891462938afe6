"""`diff`: compare the permissions and answers in two traces of the same workload."""

import argparse
from typing import TYPE_CHECKING

from kafka_shim.pipeline.commands.command import Command
from kafka_shim.pipeline.commands.options import add_fail, place
from kafka_shim.pipeline.report.charts import Chart, bars
from kafka_shim.pipeline.report.outcome import Outcome
from kafka_shim.pipeline.report.totals import totals

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafka_shim.pipeline.commands.reading import Source

_SHOWN = ("difference", "principal", "what", "first", "second")


def _add_options(job: argparse.ArgumentParser) -> None:
    text = "the second trace, to compare with"
    job.add_argument("--with", dest="other", required=True, metavar="TRACE", type=place, help=text)
    add_fail(job)


def _run(args: argparse.Namespace, source: "Source") -> Outcome:
    from kafka_shim.pipeline.commands.outcomes import table_outcome
    from kafka_shim.pipeline.commands.reading import Source
    from kafka_shim.pipeline.jobs.diff import diff
    from kafka_shim.pipeline.spark.observed import needed

    def side(trace: Source) -> "tuple[DataFrame, DataFrame]":
        return needed(trace.observed(), with_lists=args.lists), trace.table("responses")

    other = Source(source.spark, [args.other], source.options)
    return table_outcome(args, source, diff(side(source), side(other)), _SHOWN)


def _charts(outcome: Outcome) -> list[Chart]:
    found = totals(outcome.rows, "difference", "principal", value="")
    return [bars("Differences by kind and principal", "differences", found)]


COMMAND = Command(
    "compare two traces of the same workload: permissions and responses that differ",
    _add_options,
    _run,
    _charts,
)
