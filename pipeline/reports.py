"""The jobs about clients, time and two traces: which tables they read, which columns are shown."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from pyspark.sql import functions as f

from pipeline.errors import PipelineError
from pipeline.jobs.diff import diff
from pipeline.jobs.ingest import lake_observed, lake_table
from pipeline.jobs.readiness import readiness
from pipeline.jobs.timeline import timeline
from pipeline.lake import Lake
from pipeline.observed import asked, observed
from pipeline.source import trace_table
from protocol.api_versions import RELEASES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SHOWN = {
    "readiness": (
        "finding",
        "api",
        "api_version",
        "principal",
        "software_name",
        "client_id",
        "requests",
        "detail",
    ),
    "timeline": ("time", "principal", "api", "requests", "errors", "latency_us_median"),
    "diff": ("difference", "principal", "what", "first", "second"),
}
_CLIENT = ("principal", "host", "client_id", "api", "api_key", "api_version")


class Source(msgspec.Struct):
    """Traces, or one lake, with the options for reading them."""

    spark: "SparkSession"
    paths: list[str]
    options: dict[str, str]

    def lake(self) -> Path | None:
        return lake_of(self.paths)

    def table(self, name: str) -> "DataFrame":
        """One of the tables; a lake has no software names, which are not in its requests."""
        lake = self.lake()
        if lake is None:
            return trace_table(self.spark, name, self.paths, self.options)
        if name != "clients":
            return lake_table(self.spark, name, lake)
        rows = lake_table(self.spark, "requests", lake).groupBy(*_CLIENT)
        counted = rows.agg(
            f.count("*").alias("requests"),
            f.min("time").alias("first_seen"),
            f.max("time").alias("last_seen"),
        )
        nothing = f.lit("")
        return counted.withColumns({"software_name": nothing, "software_version": nothing})

    def observed(self) -> "DataFrame":
        lake = self.lake()
        if lake is not None:
            return lake_observed(self.spark, lake)
        return observed(self.spark, self.paths, self.options)


def lake_of(paths: list[str]) -> Path | None:
    """The lake, if that is what was named; a lake is not mixed with anything else."""
    lakes = [Path(path) for path in paths if Lake.is_one(Path(path))]
    if lakes and len(paths) > 1:
        raise PipelineError(f"`{lakes[0]}` is a lake, and has to be the only thing to look at")
    return lakes[0] if lakes else None


def _readiness(args: argparse.Namespace, source: Source) -> "DataFrame":
    for release in (args.present, args.target):
        if release not in RELEASES:
            raise PipelineError(f"`{release}` is no release known here: {', '.join(RELEASES)}")
    return readiness(source.table("clients"), args.present, args.target)


def _timeline(args: argparse.Namespace, source: Source) -> "DataFrame":
    return timeline(source.table("responses"), args.interval)


def _diff(args: argparse.Namespace, source: Source) -> "DataFrame":
    other = Source(source.spark, [args.other], source.options)

    def side(one: Source) -> "tuple[DataFrame, DataFrame]":
        return asked(one.observed(), with_lists=args.lists), one.table("responses")

    return diff(side(source), side(other))


REPORTS: dict[str, Callable[[argparse.Namespace, Source], "DataFrame"]] = {
    "readiness": _readiness,
    "timeline": _timeline,
    "diff": _diff,
}
