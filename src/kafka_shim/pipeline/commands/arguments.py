"""The arguments of `kafka-shim pipeline`: each job is a sub-command with its options."""

import argparse

from kafka_shim.pipeline.commands import JOBS, command_of
from kafka_shim.pipeline.commands.options import add_common, add_forms


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add all jobs as sub-commands."""
    jobs = parser.add_subparsers(dest="job", required=True, metavar="JOB")
    for name in JOBS:
        command = command_of(name)
        job = jobs.add_parser(name, help=command.summary, description=command.summary)
        add_common(job, is_stream=command.is_stream)
        if not command.is_stream:
            add_forms(job)
        command.add_options(job)
