"""`kafka-shim pipeline JOB TRACE ...`: run jobs with Spark, local or on a cluster."""

import argparse
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from kafka_shim.pipeline.arguments import add_arguments, args_of_chained_jobs
from kafka_shim.pipeline.engine_choice import EngineChoice, choose_engine
from kafka_shim.pipeline.errors import InvalidOptionOrFileError, PipelineError
from kafka_shim.pipeline.jobs import import_job
from kafka_shim.pipeline.options import DUCKDB
from kafka_shim.text.message_text import escaped, sanitize_message

if TYPE_CHECKING:
    from kafka_shim.pipeline.report.html_page import Section
    from kafka_shim.pipeline.report.outcome import Outcome

__all__ = [
    "add_arguments",
    "args_of_chained_jobs",
    "print_outcome",
    "run",
]

EXIT_FAILURE = 1
EXIT_USAGE = 2
EXIT_MISMATCH = 3
EXIT_INTERRUPTED = 130
_SEVERITY = (0, EXIT_MISMATCH, EXIT_FAILURE)


def run(args: argparse.Namespace) -> int:
    """Run the jobs of a command and print what they find; return the exit code.

    1 after a failure, 2 for an invalid option, trace or file and without Spark, 3 if a job found
    what --fail-on names.
    """
    try:
        choice = choose_engine(args)
    except PipelineError as error:
        print(f"{_command_name(args)}: {sanitize_message(str(error))}", file=sys.stderr)
        return EXIT_USAGE
    code, problem = EXIT_USAGE, _missing_requirement(args, choice)
    if problem is None:
        code = 0
        try:
            for number, (job, outcome) in enumerate(_run_jobs(args, choice)):
                if not number and choice.reason:
                    outcome.notes.insert(0, f"engine: {choice.reason}")
                if number and not job.json:
                    print(f"\n{job.job}", file=_stream_for_notes(outcome, job), flush=True)
                code = max(code, print_outcome(outcome, job), key=_SEVERITY.index)
        except PipelineError as error:
            problem = str(error)
            code = EXIT_USAGE if isinstance(error, InvalidOptionOrFileError) else EXIT_FAILURE
        except KeyboardInterrupt:
            print(f"{_command_name(args)}: interrupted", file=sys.stderr)
            return EXIT_INTERRUPTED
        else:
            return code
    print(f"{_command_name(args)}: {sanitize_message(problem)}", file=sys.stderr)
    return code


def _command_name(args: argparse.Namespace) -> str:
    return f"kafka-shim pipeline {args.job}"


def _missing_requirement(args: argparse.Namespace, choice: EngineChoice) -> str | None:
    from kafka_shim.pipeline.spark_requirements import missing_local_package, missing_requirement

    if choice.engine == DUCKDB:
        return missing_local_package()
    decides = any(job.job != "ingest" for job in args_of_chained_jobs(args))
    missing = missing_requirement(is_remote=args.remote is not None)
    return missing or (missing_local_package() if decides else None)


def _run_jobs(
    args: argparse.Namespace, choice: EngineChoice
) -> Iterator[tuple[argparse.Namespace, "Outcome"]]:
    if choice.engine == DUCKDB:
        from kafka_shim.pipeline.local_runner import run_jobs_locally

        return run_jobs_locally(args)
    from kafka_shim.pipeline.job_runner import run_chained_jobs

    return run_chained_jobs(args)


def print_outcome(outcome: "Outcome", args: argparse.Namespace) -> int:
    """Print the outcome in the chosen format; return the exit code.

    Notes go to standard error if standard output is for programs; JSON contains them.
    """
    notes_to = _stream_for_notes(outcome, args)
    for note in () if args.json else outcome.notes:
        print(escaped(note), file=notes_to)
    if args.html:
        _write_page(outcome, args)
        if not args.json:
            print(f"page written to {args.html}", file=notes_to)
    _print_rows(outcome, args)
    if outcome.failed_own_check or any(part.failed_own_check for part in outcome.parts):
        return EXIT_FAILURE
    return EXIT_MISMATCH if outcome.has_failing_findings else 0


def _stream_for_notes(outcome: "Outcome", args: argparse.Namespace) -> TextIO:
    is_bare = args.json or args.csv or outcome.text is not None
    return sys.stderr if is_bare else sys.stdout


def _print_rows(outcome: "Outcome", args: argparse.Namespace) -> None:
    from kafka_shim.pipeline.report.output import (
        print_csv,
        print_json,
        print_table,
        rows_with_iso_times,
    )

    rows = outcome.rows
    if outcome.text is not None:
        print(outcome.text, end="")
    elif args.json and outcome.parts:
        parts = [
            {"job": part.job, **part.totals, "rows": rows_with_iso_times(part.rows)}
            for part in outcome.parts
        ]
        head = {"job": outcome.job, **outcome.totals, "notes": outcome.notes}
        print_json(head | {"parts": parts}, sys.stdout)
    elif args.json:
        head = {"job": outcome.job, **outcome.totals, "notes": outcome.notes}
        print_json(head | {"rows": rows_with_iso_times(rows)}, sys.stdout)
    elif args.csv:
        print_csv(outcome.columns, rows, sys.stdout)
    elif outcome.parts and not args.html:
        for part in outcome.parts:
            print(f"\n{part.job}", *map(escaped, part.notes), sep="\n")
            print_table(part.printed_columns, part.rows, sys.stdout)
    elif rows:
        print()
        print_table(outcome.printed_columns, rows, sys.stdout)


def _write_page(outcome: "Outcome", args: argparse.Namespace) -> None:
    try:
        Path(args.html).write_text(html_page_of_outcome(outcome, args.trace), encoding="utf-8")
    except OSError as error:
        raise PipelineError(f"--html {args.html}: {error.strerror}") from error


def html_page_of_outcome(outcome: "Outcome", traces: list[str]) -> str:
    """Return an HTML page with a section for each job; its heading names traces and period."""
    from kafka_shim.pipeline.report.html_page import html_page
    from kafka_shim.pipeline.report.output import cell_text

    heading = f"Traces: {', '.join(traces)}. Times are UTC."
    if outcome.totals.get("first_seen"):
        first, last = (
            cell_text(datetime.fromisoformat(outcome.totals[name]))
            for name in ("first_seen", "last_seen")
        )
        heading += f" Accesses from {first} to {last}."
    sections = [_html_section(part) for part in outcome.parts or [outcome]]
    if outcome.parts:
        sections.insert(0, _html_section(outcome))
    return html_page(f"kafka-shim pipeline {outcome.job}", heading, sections)


def _html_section(outcome: "Outcome") -> "Section":
    from kafka_shim.pipeline.report.html_page import Section

    if outcome.parts:
        return Section("summary", "What the sections below found.", outcome.notes, [], [], [])
    job = import_job(outcome.job)
    return Section(
        outcome.job,
        f"{job.summary[0].upper()}{job.summary[1:]}.",
        outcome.notes,
        job.charts(outcome) if outcome.rows else [],
        outcome.printed_columns,
        outcome.rows,
    )
