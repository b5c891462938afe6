"""Run jobs in this process, on DuckDB, without the import of pandas, which takes longer."""

import argparse
import sys
from collections.abc import Iterator

import duckdb
import pyarrow as pa

from kafka_shim.pipeline.arguments import args_of_chained_jobs
from kafka_shim.pipeline.errors import InvalidOptionOrFileError, PipelineError
from kafka_shim.pipeline.interrupts import raise_interrupts
from kafka_shim.pipeline.option_checks import check_job
from kafka_shim.pipeline.report.outcome import Outcome
from kafka_shim.pipeline.trace_input import local_trace_input


class _WithoutPandas:
    """A finder of modules that finds no pandas."""

    def find_spec(self, name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name)


def keep_pyarrow_from_importing_pandas() -> None:
    """Let pyarrow look for pandas now, unless it is imported, and not find it.

    Otherwise it imports an installed pandas to find out whether a list is one of its arrays. Its
    methods that need pandas still import it.
    """
    if "pandas" in sys.modules:
        return
    finder = _WithoutPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([])
    finally:
        sys.meta_path.remove(finder)


def run_jobs_locally(args: argparse.Namespace) -> Iterator[tuple[argparse.Namespace, Outcome]]:
    """Run the jobs of a command. Raise PipelineError if one fails."""
    checked_jobs = [check_job(job) for job in args_of_chained_jobs(args)]
    for checked in checked_jobs:
        if checked.job.is_stream:
            raise InvalidOptionOrFileError(
                f"{checked.args.job} runs on Spark only; remove --engine duckdb"
            )
    keep_pyarrow_from_importing_pandas()
    for checked in checked_jobs:
        trace_input = local_trace_input(checked.args.trace, checked.reader_options)
        try:
            with raise_interrupts():
                outcome = checked.job.run(checked.args, trace_input)
        except duckdb.Error as error:
            raise PipelineError(str(error).partition("\n")[0]) from error
        finally:
            trace_input.release_observation()
        yield checked.args, outcome
