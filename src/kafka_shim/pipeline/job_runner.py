"""Run jobs on Spark: check options, start Spark once, read, compute outcomes."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import nullcontext

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from kafka_shim.pipeline.arguments import args_of_chained_jobs
from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.pipeline.interrupts import raise_interrupts
from kafka_shim.pipeline.option_checks import CheckedJob, check_job
from kafka_shim.pipeline.report.outcome import Outcome
from kafka_shim.pipeline.spark.failure_message import failure_line_with_advice, worker_started_late
from kafka_shim.pipeline.spark.progress import Progress
from kafka_shim.pipeline.spark.session import (
    end_java,
    prepare_remote_session,
    spark_session,
)
from kafka_shim.pipeline.spark.spark_log import TemporarySparkLog
from kafka_shim.pipeline.trace_input import spark_trace_input

ATTEMPTS = 3


def run_chained_jobs(args: argparse.Namespace) -> Iterator[tuple[argparse.Namespace, Outcome]]:
    """Run the jobs of a command in one Spark session. Raise PipelineError if one fails.

    All options are checked before Spark starts, except those of jobs after `ingest`, which may read
    the lake that it writes.
    """
    ready: list[CheckedJob] = []
    for job in args_of_chained_jobs(args):
        ready.append(check_job(job))
        if job.job == "ingest":
            break
    with TemporarySparkLog() as log:
        for number, job in enumerate(args_of_chained_jobs(args)):
            if number == len(ready):
                ready.append(check_job(job))
            yield job, _run_retrying_late_workers(ready[number], log)


def _run_retrying_late_workers(checked: CheckedJob, log: TemporarySparkLog) -> Outcome:
    """Run a job; retry if a Python worker started too late. Raise PipelineError if Spark fails."""
    for attempts_left in reversed(range(ATTEMPTS)):
        try:
            return _run_in_spark(checked, log)
        except (Py4JError, PySparkException, ConnectionError) as error:
            if attempts_left and worker_started_late(error):
                print("a Python worker was late; trying again", file=sys.stderr)
                continue
            problem = f"{failure_line_with_advice(error)}; more in {log.path}"
            log.append_failure(str(error))
            raise PipelineError(problem) from error
    raise AssertionError("the last attempt ends the loop")


def _run_in_spark(checked: CheckedJob, log: TemporarySparkLog) -> Outcome:
    args = checked.args
    with raise_interrupts(end_java):
        with Progress("starting Spark"):
            if args.remote:
                spark = prepare_remote_session(args.remote)
            else:
                spark = spark_session(args.master, log=log, settings=dict(args.conf))
        if not args.remote and (address := spark.sparkContext.uiWebUrl):
            print(f"Spark's UI: {address}", file=sys.stderr)
        trace_input = spark_trace_input(spark, args.trace, checked.reader_options)
        try:
            with (
                nullcontext()
                if checked.job.is_stream
                else Progress(args.job, None if args.remote else spark)
            ):
                return checked.job.run(args, trace_input)
        finally:
            trace_input.release_observation()
