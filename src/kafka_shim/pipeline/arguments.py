"""The arguments of `kafka-shim pipeline`: each job is a sub-command with its options."""

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

from kafka_shim.pipeline.jobs import JOBS, import_job
from kafka_shim.pipeline.options import (
    add_compared_trace_paths,
    add_engine_option,
    add_output_options,
    add_selection_options,
    add_spark_options,
    add_trace_paths,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add all jobs as sub-commands."""
    commands = parser.add_subparsers(dest="job", required=True, metavar="JOB")
    for name in JOBS:
        job = import_job(name)
        command = commands.add_parser(name, help=job.summary, description=job.summary)
        if job.compares_two_traces:
            add_compared_trace_paths(command)
        else:
            add_trace_paths(command, is_stream=job.is_stream)
        add_selection_options(command)
        if not job.is_stream:
            add_engine_option(command)
        add_spark_options(command).add_argument(
            "--then",
            action=_ThenJobAction,
            help="Another job with its options, run after this one in the same Spark session",
        )
        if not job.is_stream:
            add_output_options(command)
        job.add_options(command)


class _ThenJobAction(argparse.Action):
    """Parse the arguments after `--then` as another job with its options."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"nargs": argparse.REMAINDER})

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,  # noqa: ARG002 - argparse's
    ) -> None:
        next_parser = type(parser)(prog=parser.prog.rpartition(" ")[0])
        add_arguments(next_parser)
        namespace.then = next_parser.parse_args(list(values or ()))


def args_of_chained_jobs(args: argparse.Namespace) -> Iterator[argparse.Namespace]:
    """Yield the arguments of each job in a command, in their order."""
    job: argparse.Namespace | None = args
    while job is not None:
        yield job
        job = job.then
