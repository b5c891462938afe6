"""`ingest`: traces into Parquet tables."""

import argparse
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from kafka_shim.pipeline.commands.command import Command
from kafka_shim.pipeline.commands.options import add_every, place
from kafka_shim.pipeline.report.outcome import Outcome

if TYPE_CHECKING:
    from kafka_shim.pipeline.commands.reading import Source
    from kafka_shim.pipeline.jobs.ingest import Ingested


def _add_options(job: argparse.ArgumentParser) -> None:
    job.add_argument(
        "-o", "--output", required=True, metavar="LAKE", type=place, help="folder of the lake"
    )
    job.add_argument("--json", action="store_true", help="one JSON object")
    job.add_argument("--follow", action="store_true", help="continue until interrupted")
    add_every(job, "1 minute")


def _run(args: argparse.Namespace, source: "Source") -> Outcome:
    from kafka_shim.pipeline.jobs.ingest import ingest
    from kafka_shim.pipeline.spark.progress import Progress

    def tell(done: "Ingested") -> None:
        print(_note(done, args.output), file=sys.stderr, flush=True)

    with nullcontext() if args.follow else Progress("ingest", source.spark):
        done = ingest(
            source.spark,
            args.trace,
            Path(args.output),
            source.options["release"],
            every=args.every if args.follow else None,
            tell=tell if args.follow else None,
        )
    notes = ["a run that was interrupted has been finished first"] if done.recovered else []
    notes.append(_note(done, args.output))
    return Outcome("ingest", [], [], [], msgspec.structs.asdict(done), notes)


def _note(done: "Ingested", folder: str) -> str:
    note = f"{done.segments} segments had something new: {done.read_bytes} bytes read,"
    return f"{note} {done.files} files written to {folder}"


COMMAND = Command(
    "traces into Parquet tables; the next run reads only what is new",
    _add_options,
    _run,
    is_stream=True,
)
