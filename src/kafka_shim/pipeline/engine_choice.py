"""The engine for a command: DuckDB in this process for what fits, Spark for the rest."""

import argparse
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from kafka_shim.pipeline.arguments import args_of_chained_jobs
from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.pipeline.jobs import import_job
from kafka_shim.pipeline.options import DUCKDB, SPARK

INPUT_BYTES_MAX = 1 << 30
"""More takes minutes in one process; Spark reads it on all cores."""
_READ = ("*.ktrace", "*.parquet")


class EngineChoice(msgspec.Struct, frozen=True):
    """An engine, and why; the reason is empty if the command names the engine."""

    engine: str
    reason: str = ""


def choose_engine(args: argparse.Namespace) -> EngineChoice:
    """Return the engine for the jobs of a command; they all run on one.

    Raise PipelineError if the engine that the command names cannot access a URL.
    """
    jobs = list(args_of_chained_jobs(args))
    url = next((path for job in jobs for path in _paths(job) if "://" in path), None)
    if engine := getattr(args, "engine", None):
        if engine == DUCKDB and url is not None:
            raise PipelineError(f"--engine duckdb: only Spark can access {url}")
        return EngineChoice(engine)
    is_started_by_spark = "PYSPARK_GATEWAY_PORT" in os.environ or "SPARK_REMOTE" in os.environ
    if is_started_by_spark or any(job.master or job.remote or job.conf for job in jobs):
        return EngineChoice(SPARK)
    size = sum(_input_bytes(job.trace) for job in jobs)
    text = f"{size / (1 << 20):.1f} MiB" if size >> 20 else f"{size / (1 << 10):.1f} KiB"
    only_on_spark = [job.job for job in jobs if import_job(job.job).is_stream]
    reason = ""
    if url is not None:
        reason = f"only it can access {url}"
    elif only_on_spark:
        reason = f"{only_on_spark[0]} has no other engine"
    elif size > INPUT_BYTES_MAX:
        reason = f"{text} are more than {INPUT_BYTES_MAX >> 20} MiB"
    if reason:
        return EngineChoice(SPARK, f"Spark, since {reason}")
    return EngineChoice(DUCKDB, f"DuckDB, since {text} fit into this process; or --engine spark")


def _paths(job: argparse.Namespace) -> tuple[str, ...]:
    """Return the paths that a job reads, and the folder that it writes."""
    folder = getattr(job, "parquet", None)
    return (*job.trace, *([folder] if folder else []))


def _input_bytes(paths: Iterable[str]) -> int:
    """Return the bytes of traces and lakes; what is missing is reported by the check of options."""
    files = (
        [path] if path.is_file() else [file for name in _READ for file in path.rglob(name)]
        for path in map(Path, paths)
    )
    return sum(file.stat().st_size for of_path in files for file in of_path)
