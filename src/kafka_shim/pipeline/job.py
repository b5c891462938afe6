"""What the command line knows of a job."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from kafka_shim.pipeline.report.charts import Chart
from kafka_shim.pipeline.report.outcome import Outcome

if TYPE_CHECKING:
    from kafka_shim.pipeline.trace_input import TraceInput


def _no_charts(_: Outcome) -> list[Chart]:
    return []


def _no_check(_: argparse.Namespace) -> None:
    pass


class Job(msgspec.Struct, frozen=True):
    """A job: its summary, its own options, its run, and its charts.

    `check` raises PipelineError for options that cannot be combined, before Spark starts.
    A stream (`is_stream`) runs on Spark only, prints while it runs, and has no output formats.
    `compares_two_traces`: its arguments are BEFORE and AFTER instead of any number of traces.
    """

    summary: str
    add_options: Callable[[argparse.ArgumentParser], None]
    run: "Callable[[argparse.Namespace, TraceInput], Outcome]"
    charts: Callable[[Outcome], list[Chart]] = _no_charts
    check: Callable[[argparse.Namespace], None] = _no_check
    is_stream: bool = False
    compares_two_traces: bool = False
