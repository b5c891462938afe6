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
        "-o",
        "--output",
        required=True,
        metavar="LAKE",
        type=place,
        help="folder to write the tables to",
    )
    job.add_argument("--json", action="store_true", help="print one JSON object")
    job.add_argument(
        "--follow", action="store_true", help="keep reading new entries until interrupted"
    )
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
    notes = ["finished an earlier, interrupted run first"] if done.recovered else []
    notes.append(_note(done, args.output))
    return Outcome("ingest", [], [], [], msgspec.structs.asdict(done), notes)


def _note(done: "Ingested", folder: str) -> str:
    note = f"read {done.read_bytes} new bytes from {done.segments} segments,"
    return f"{note} wrote {done.files} files to {folder}"


COMMAND = Command(
    "convert traces to Parquet tables (a lake); the next run reads only new entries",
    _add_options,
    _run,
    is_stream=True,
)
