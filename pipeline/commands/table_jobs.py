"""The jobs about clients, time, damage and two traces: what they read, which columns are shown."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from pipeline.commands.reading import Source
from pipeline.errors import PipelineError
from pipeline.jobs.clients import clients
from pipeline.jobs.diff import diff
from pipeline.jobs.readiness import readiness
from pipeline.jobs.timeline import timeline
from pipeline.report.outcome import Outcome, collected, damage_head, damage_notes
from pipeline.spark.observed import asked
from protocol.api_versions import RELEASES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_CLIENT = ("principal", "software_name", "software_version", "client_id")
_SHOWN = {
    "clients": (*_CLIENT, "api", "versions", "requests", "first_seen", "last_seen"),
    "readiness": (
        *("finding", "api", "api_version", "principal"),
        *("software_name", "software_version", "client_id", "requests", "detail"),
    ),
    "timeline": (
        *("time", "principal", "client_id", "api"),
        *("requests", "errors", "latency_us_median", "latency_us_99"),
    ),
    "diff": ("difference", "principal", "what", "first", "second"),
    "damage": ("path", "at", "length", "reason", "is_tail"),
}


def table_outcome(args: argparse.Namespace, source: Source) -> Outcome:
    """Run the job that the options name."""
    frame = TABLE_JOBS[args.job](args, source).persist()
    outcome = collected(args.job, frame, _SHOWN[args.job], args.parquet)
    outcome.head = damage_head(source)
    found = frame.count()
    outcome.notes = [f"{found} rows", *damage_notes(outcome.head), *outcome.notes]
    outcome.interval = getattr(args, "interval", None) or ""
    outcome.has_broken = bool(getattr(args, "fail", False) and found)
    frame.unpersist()
    return outcome


def _clients(_: argparse.Namespace, source: Source) -> "DataFrame":
    return clients(source.table("clients"))


def _readiness(args: argparse.Namespace, source: Source) -> "DataFrame":
    return readiness(source.table("clients"), args.present, args.target)


def known_release(release: str) -> str:
    """The release; PipelineError for one that is not known."""
    if release not in RELEASES:
        raise PipelineError(f"`{release}` is no release known here; they are {', '.join(RELEASES)}")
    return release


def _timeline(args: argparse.Namespace, source: Source) -> "DataFrame":
    return timeline(source.table("responses"), args.interval)


def _damage(_: argparse.Namespace, source: Source) -> "DataFrame":
    return source.table("damage").orderBy("path", "at")


def _diff(args: argparse.Namespace, source: Source) -> "DataFrame":
    other = Source(source.spark, [args.other], source.options)

    def side(one: Source) -> "tuple[DataFrame, DataFrame]":
        return asked(one.observed(), with_lists=args.lists), one.table("responses")

    return diff(side(source), side(other))


TABLE_JOBS: dict[str, Callable[[argparse.Namespace, Source], "DataFrame"]] = {
    "clients": _clients,
    "readiness": _readiness,
    "timeline": _timeline,
    "diff": _diff,
    "damage": _damage,
}
