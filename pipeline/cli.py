"""`kafka-shim pipeline JOB TRACE ...`: the jobs on this machine, or wherever Spark is told to."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_shim.pipeline.commands.arguments import add_arguments
from kafka_shim.pipeline.errors import PipelineError

if TYPE_CHECKING:
    from kafka_shim.pipeline.report.outcome import Outcome

__all__ = ["add_arguments", "run", "show"]

EXIT_FAILURE = 1
EXIT_MISMATCH = 3


def run(args: argparse.Namespace) -> int:
    """Run a job and print what it found; tells the exit code."""
    from kafka_shim.pipeline.requisites import missing

    problem = missing()
    if problem is None:
        try:
            return show(_outcome(args), args)
        except PipelineError as error:
            problem = str(error)
    print(f"kafka-shim pipeline: {problem}", file=sys.stderr)
    return EXIT_FAILURE


def _outcome(args: argparse.Namespace) -> "Outcome":
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    from kafka_shim.pipeline.commands.run import run_job

    try:
        return run_job(args)
    except Py4JJavaError as error:  # its own text begins with the call
        problem = str(error.java_exception)
    except PySparkException as error:  # no Java that can run it, no memory, a worker that died
        problem = str(error) or type(error).__name__
    raise PipelineError(f"Spark failed: {problem.splitlines()[0]}")


def show(outcome: "Outcome", args: argparse.Namespace) -> int:
    """Print in the form that was asked for; tells the exit code.

    Notes go to standard error where they would disturb.
    """
    is_bare = args.json or args.csv or outcome.text is not None
    for note in outcome.notes:
        print(note, file=sys.stderr if is_bare else sys.stdout)
    if args.html:
        _write_page(outcome, args)
        print(f"page written to {args.html}", file=sys.stderr if is_bare else sys.stdout)
    _print_rows(outcome, args)
    if outcome.is_wrong or any(part.is_wrong for part in outcome.parts):
        return EXIT_FAILURE
    return EXIT_MISMATCH if outcome.has_broken else 0


def _print_rows(outcome: "Outcome", args: argparse.Namespace) -> None:
    from kafka_shim.pipeline.report.output import json_ready, print_csv, print_json, print_table

    rows = outcome.rows
    if outcome.text is not None:
        print(outcome.text, end="")
    elif args.json and outcome.parts:
        parts = [
            {"job": part.job, **part.head, "rows": json_ready(part.rows)} for part in outcome.parts
        ]
        print_json({"job": outcome.job, **outcome.head, "parts": parts}, sys.stdout)
    elif args.json:
        head = {"job": outcome.job, **outcome.head}
        print_json(head | {"rows": json_ready(rows)}, sys.stdout)
    elif args.csv:
        print_csv(outcome.columns, rows, sys.stdout)
    elif outcome.parts and not args.html:
        for part in outcome.parts:
            print(f"\n{part.job}", *part.notes, sep="\n")
            print_table(part.shown, part.rows, sys.stdout)
    elif rows:
        print()
        print_table(outcome.shown, rows, sys.stdout)


def _write_page(outcome: "Outcome", args: argparse.Namespace) -> None:
    from kafka_shim.pipeline.commands.pages import page_of

    try:
        Path(args.html).write_text(page_of(outcome, args.trace), encoding="utf-8")
    except OSError as error:
        raise PipelineError(f"--html {args.html}: {error.strerror}") from error
