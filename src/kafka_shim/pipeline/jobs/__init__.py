"""The jobs, one file each: options, DataFrames and report.

A new job is a file with a `JOB`, and a line in `MODULES`. Importing it needs neither Spark nor
Arrow, so that `--help` works without them.
"""

from importlib import import_module

from kafka_shim.pipeline.job import Job

MODULES = (
    "ingest",
    "what_breaks",
    "unused_acls",
    "findings",
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
"""In the order of the help; a job is named like its module, with dashes."""

JOBS = tuple(module.replace("_", "-") for module in MODULES)


def import_job(name: str) -> Job:
    """Import and return a job."""
    job: Job = import_module(f"{__name__}.{name.replace('-', '_')}").JOB
    return job
