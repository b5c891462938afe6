"""The jobs that are streams: until all is read, or on and on."""

import argparse
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from pipeline.acls.acl_set import read_acls
from pipeline.jobs.ingest import Ingested, ingest
from pipeline.jobs.watch import Watcher, watch, watch_line
from pipeline.report.outcome import Outcome
from pipeline.spark.progress import Progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _ingest(args: argparse.Namespace, spark: "SparkSession", options: dict[str, str]) -> Outcome:
    def tell(done: Ingested) -> None:
        print(_ingested_note(done, args.output), file=sys.stderr, flush=True)

    with nullcontext() if args.follow else Progress("ingest", spark):
        done = ingest(
            spark,
            args.trace,
            Path(args.output),
            options["release"],
            every=args.every if args.follow else None,
            tell=tell if args.follow else None,
        )
    notes = ["a run that was interrupted has been finished first"] if done.recovered else []
    notes.append(_ingested_note(done, args.output))
    return Outcome("ingest", [], [], [], msgspec.structs.asdict(done), notes)


def _ingested_note(done: Ingested, folder: str) -> str:
    note = f"{done.segments} segments had something new: {done.read_bytes} bytes read,"
    return f"{note} {done.files} files written to {folder}"


def _watch(args: argparse.Namespace, spark: "SparkSession", options: dict[str, str]) -> Outcome:
    acls = None if args.acls is None else read_acls(args.acls)
    watcher = Watcher(acls, options["release"], args.super_user, lists=args.lists)
    told = 0

    def tell(rows: list[dict[str, Any]]) -> None:
        nonlocal told
        told += len(rows)
        for row in rows:
            print(watch_line(row, as_json=args.json), flush=True)

    if not (args.from_start or args.once):
        options = options | {"startingOffsets": "latest"}
    watch(spark, args.trace, options, watcher, tell, None if args.once else args.every)
    return Outcome("watch", [], [], [], {"told": told}, [], text="")


STREAM_JOBS: "dict[str, Callable[[argparse.Namespace, SparkSession, dict[str, str]], Outcome]]" = {
    "ingest": _ingest,
    "watch": _watch,
}
