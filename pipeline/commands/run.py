"""One job from its options to its outcome: check, read, run."""

import argparse
from contextlib import nullcontext

from kafka_shim.pipeline.commands import command_of
from kafka_shim.pipeline.commands.checks import source_options
from kafka_shim.pipeline.commands.reading import Source
from kafka_shim.pipeline.report.outcome import Outcome
from kafka_shim.pipeline.spark.progress import Progress
from kafka_shim.pipeline.spark.session import spark_session


def run_job(args: argparse.Namespace) -> Outcome:
    """Run the job that the options name; PipelineError for options that cannot be followed."""
    command = command_of(args.job)
    options = source_options(args, command)
    with Progress("starting Spark"):
        spark = spark_session(args.master)
    source = Source(spark, args.trace, options)
    try:
        with nullcontext() if command.is_stream else Progress(args.job, spark):
            return command.run(args, source)
    finally:
        source.forget()
