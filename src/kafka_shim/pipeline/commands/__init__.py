"""The jobs as commands, one file each: options, columns, notes, charts, and the run.

A command's module imports Spark and Arrow only when the job runs, so that `--help` works without
them.
"""

from importlib import import_module

from kafka_shim.pipeline.commands.command import Command

MODULES = (
    "ingest",
    "what_breaks",
    "unused_acls",
    "least_acls",
    "denials",
    "clients",
    "readiness",
    "diff",
    "timeline",
    "watch",
    "damage",
    "report",
)
"""The commands, in the order of the help; a job is named like its module, with dashes."""

JOBS = tuple(module.replace("_", "-") for module in MODULES)


def command_of(job: str) -> Command:
    """Return the command that runs a job."""
    command: Command = import_module(f"{__name__}.{job.replace('-', '_')}").COMMAND
    return command
