"""`kafka-shim pipeline JOB TRACE ...`: the jobs on this machine, or wherever Spark is told to."""

import argparse
import sys
from typing import TYPE_CHECKING

from pipeline.arguments import add_arguments
from pipeline.errors import PipelineError

if TYPE_CHECKING:
    from pipeline.run import Outcome

__all__ = ["add_arguments", "run", "show"]

EXIT_FAILURE = 1
EXIT_MISMATCH = 3


def run(args: argparse.Namespace) -> int:
    """Run a job and print what it found; tells the exit code."""
    from pipeline.requisites import missing

    problem = missing()
    if problem is None:
        try:
            return show(_outcome(args), args)
        except PipelineError as error:
            problem = str(error)
    print(f"kafka-shim pipeline: {problem}", file=sys.stderr)
    return EXIT_FAILURE


def _outcome(args: argparse.Namespace) -> "Outcome":
    from pipeline.run import run_job

    return run_job(args)


def show(outcome: "Outcome", args: argparse.Namespace) -> int:
    """Print in the form that was asked for; tells the exit code.

    Notes go to standard error where they would disturb.
    """
    from pipeline.output import print_csv, print_json, print_table

    rows = outcome.rows
    is_bare = args.json or args.csv or outcome.text is not None
    for note in outcome.notes:
        print(note, file=sys.stderr if is_bare else sys.stdout)
    if outcome.text is not None:
        print(outcome.text, end="")
    elif args.json:
        print_json({"job": args.job, **outcome.head}, rows, sys.stdout)
    elif args.csv:
        print_csv(outcome.columns, rows, sys.stdout)
    elif not args.parquet and rows:
        print()
        print_table(outcome.shown, rows, sys.stdout)
    if outcome.is_wrong:
        return EXIT_FAILURE
    return EXIT_MISMATCH if outcome.has_broken else 0
