"""One job from its options to its outcome: read, judge, describe."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from pipeline.access_jobs import access_outcome, context_of, span_interval
from pipeline.acl_set import read_acls
from pipeline.batches import plan
from pipeline.errors import PipelineError
from pipeline.intervals import interval_seconds
from pipeline.jobs.ingest import ingest
from pipeline.outcome import Outcome
from pipeline.progress import Progress
from pipeline.reading import Source, lake_of
from pipeline.session import spark_session
from pipeline.source import selection_of
from pipeline.table_jobs import TABLE_JOBS, known_release, table_outcome
from protocol.api_versions import RELEASES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_job(args: argparse.Namespace) -> Outcome:
    """Run the job that the options name; PipelineError for options that cannot be followed."""
    options = _checked(args)
    with Progress("starting Spark"):
        spark = spark_session(args.master)
    with Progress(args.job, spark):
        if args.job == "ingest":
            return _ingest(args, spark, options["release"])
        source = Source(spark, args.trace, options)
        if args.job in TABLE_JOBS:
            return table_outcome(args, source)
        observed = source.observed().persist()
        try:
            context = context_of(args, source, observed)
            if args.job != "report":
                return access_outcome(args, context)
            seen = span_interval(context.head)
            parts = [
                table_outcome(one, source)
                if one.job in TABLE_JOBS
                else access_outcome(one, context)
                for one in _parts(args, seen)
            ]
            return Outcome("report", [], [], [], context.head, [], parts=parts)
        finally:
            observed.unpersist()


def _checked(args: argparse.Namespace) -> dict[str, str]:
    """The source's options; what is wrong with any is said before Spark is started."""
    release = known_release(args.kafka_version or RELEASES[-1])
    given = {"since": args.since, "until": args.until, "apis": args.apis, "release": release}
    options = {name: value for name, value in given.items() if value}
    selection_of(options)
    if lake_of(args.trace) is None and not plan(args.trace):
        raise PipelineError(f"there are no segments in {', '.join(args.trace)}")
    for name in ("present", "target"):
        if getattr(args, name, None):
            known_release(getattr(args, name))
    if getattr(args, "interval", None):
        interval_seconds(args.interval)
    for path in (getattr(args, name, None) for name in ("acls", "baseline", "against")):
        if path is not None:
            read_acls(path)
    if args.job == "report" and (args.csv or args.parquet):
        raise PipelineError("a report has many tables; use --html FILE or --json")
    if args.html and not Path(args.html).absolute().parent.is_dir():
        raise PipelineError(f"--html {args.html}: there is no such folder")
    return options


def _parts(args: argparse.Namespace, interval: str) -> list[argparse.Namespace]:
    """The jobs of a report, each with its options: as many as there is something to compare."""
    jobs: dict[str, dict[str, object]] = {
        "timeline": {"interval": interval},
        "clients": {},
        "denials": {"interval": None},
        "least-acls": {"over_grant": None, "against": None, "format": None},
        "damage": {},
    }
    if args.acls:
        jobs |= {"what-breaks": {"baseline": None}, "unused-acls": {}}
    if args.present and args.target:
        jobs |= {"readiness": {}}
    given = vars(args) | {"fail": False, "parquet": None}
    return [argparse.Namespace(**(given | options | {"job": job})) for job, options in jobs.items()]


def _ingest(args: argparse.Namespace, spark: "SparkSession", release: str) -> Outcome:
    done = ingest(spark, args.trace, Path(args.output), release)
    head = msgspec.structs.asdict(done)
    note = f"{done.segments} segments had something new: {done.read_bytes} bytes read,"
    notes = [f"{note} {done.files} files written to {args.output}"]
    if done.recovered:
        notes.insert(0, "a run that was interrupted has been finished first")
    return Outcome("ingest", [], [], [], head, notes)
