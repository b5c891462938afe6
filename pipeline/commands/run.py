"""One job from its options to its outcome: read, judge, describe."""

import argparse

from pipeline.commands.access_jobs import access_outcome, context_of, span_interval
from pipeline.commands.options import source_options
from pipeline.commands.reading import Source
from pipeline.commands.stream_jobs import STREAM_JOBS
from pipeline.commands.table_jobs import TABLE_JOBS, table_outcome
from pipeline.report.outcome import Outcome
from pipeline.spark.progress import Progress
from pipeline.spark.session import spark_session


def run_job(args: argparse.Namespace) -> Outcome:
    """Run the job that the options name; PipelineError for options that cannot be followed."""
    options = source_options(args)
    with Progress("starting Spark"):
        spark = spark_session(args.master)
    if args.job in STREAM_JOBS:
        return STREAM_JOBS[args.job](args, spark, options)
    source = Source(spark, args.trace, options)
    with Progress(args.job, spark):
        return table_outcome(args, source) if args.job in TABLE_JOBS else _on_accesses(args, source)


def _on_accesses(args: argparse.Namespace, source: Source) -> Outcome:
    observed = source.observed().persist()
    try:
        context = context_of(args, source, observed)
        if args.job != "report":
            return access_outcome(args, context)
        parts = [
            table_outcome(one, source) if one.job in TABLE_JOBS else access_outcome(one, context)
            for one in _parts(args, span_interval(context.head))
        ]
        return Outcome("report", [], [], [], context.head, [], parts=parts)
    finally:
        observed.unpersist()


def _parts(args: argparse.Namespace, interval: str) -> list[argparse.Namespace]:
    """The jobs of a report, each with its options: as many as there is something to compare."""
    jobs: dict[str, dict[str, object]] = {
        "timeline": {"interval": interval},
        "clients": {},
        "denials": {"interval": None},
        "least-acls": {"over_grant": None, "against": None, "to": None},
        "damage": {},
    }
    if args.acls:
        jobs |= {"what-breaks": {"baseline": None}, "unused-acls": {}}
    if args.present and args.target:
        jobs |= {"readiness": {}}
    given = vars(args) | {"fail": False, "parquet": None}
    return [argparse.Namespace(**(given | options | {"job": job})) for job, options in jobs.items()]
