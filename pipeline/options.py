"""Options of jobs: what is wrong with them is said before Spark is started."""

import argparse
from pathlib import Path

from pipeline.acl_set import read_acls
from pipeline.batches import plan
from pipeline.errors import PipelineError
from pipeline.intervals import interval_seconds
from pipeline.reading import lake_of
from pipeline.source import selection_of
from pipeline.table_jobs import known_release
from protocol.api_versions import RELEASES


def source_options(args: argparse.Namespace) -> dict[str, str]:
    """The options for reading traces; PipelineError for any that cannot be followed."""
    release = known_release(args.kafka_version or RELEASES[-1])
    given = {"since": args.since, "until": args.until, "apis": args.apis, "release": release}
    options = {name: value for name, value in given.items() if value}
    selection_of(options)
    _check_traces(args)
    for name in ("present", "target"):
        if getattr(args, name, None):
            known_release(getattr(args, name))
    for name in ("interval", "every"):
        if getattr(args, name, None):
            interval_seconds(getattr(args, name))
    for name in ("acls", "baseline", "against"):
        if getattr(args, name, None):
            read_acls(getattr(args, name))
    _check_output(args)
    return options


def _check_traces(args: argparse.Namespace) -> None:
    is_stream = args.job in ("ingest", "watch")
    lake = lake_of(args.trace)
    if lake is not None and is_stream:
        raise PipelineError(f"`{lake}` is a lake; {args.job} reads the folder of a trace itself")
    is_follower = args.job == "watch" or getattr(args, "follow", False)
    if lake is None and not plan(args.trace) and not is_follower:
        raise PipelineError(f"there are no segments in {', '.join(args.trace)}")


def _check_output(args: argparse.Namespace) -> None:
    if args.job == "report" and (args.csv or args.parquet):
        raise PipelineError("a report has many tables; use --html FILE or --json")
    if args.html and not Path(args.html).absolute().parent.is_dir():
        raise PipelineError(f"--html {args.html}: there is no such folder")
