"""`ingest`: write traces to Parquet tables, each micro-batch of new data completely, and once.

Spark's checkpoint records the content of a micro-batch before it begins, so an interrupted one is
repeated with the same pieces. The lake ignores batches that it already has.
"""

import argparse
import json
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from kafka_shim.pipeline.job import Job
from kafka_shim.pipeline.lazy import f
from kafka_shim.pipeline.options import absolute_location, add_stream_options
from kafka_shim.pipeline.report.outcome import Outcome
from kafka_shim.pipeline.spark.lake import Lake

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from kafka_shim.pipeline.rows.batches import Split
    from kafka_shim.pipeline.trace_input import TraceInput

INGESTED = ("requests", "responses", "accesses", "damage")
"""Tables with a row for each entry; `clients` is counted from them, in each micro-batch."""


class IngestTotals(msgspec.Struct):
    """What was ingested: segments with new data (counted in each micro-batch), bytes, files."""

    segments: int = 0
    read_bytes: int = 0
    files: int = 0
    recovered: bool = False


def ingest_new_data(
    spark: "SparkSession",
    paths: list[str],
    lake_folder: Path,
    release: str,
    *,
    every: str | None = None,
    on_progress: Callable[[IngestTotals], None] | None = None,
) -> IngestTotals:
    """Add new data of traces to a lake; with `every`, continue until interrupted.

    `on_progress` is called after each micro-batch with the totals so far.
    """
    from kafka_shim.pipeline.engines.spark_engine import SparkEngine
    from kafka_shim.pipeline.observation import clients_of_requests
    from kafka_shim.pipeline.rows.batches import Split
    from kafka_shim.pipeline.spark.data_source import FORMAT
    from kafka_shim.pipeline.spark.run_stream import run_stream
    from kafka_shim.pipeline.spark.trace_tables import (
        existence_option,
        lake_table,
        topic_names_option,
    )

    lake = Lake(lake_folder)
    totals = IngestTotals()

    def ingest_batch(pieces: "DataFrame", number: int) -> None:
        splits = [Split(*row) for row in pieces.collect()]
        if not splits or lake.has_run(
            number
        ):  # the lake has it if Spark ended before it recorded that
            return
        topic_ids = _stage_topic_ids(spark, lake, splits)
        options = {"release": release} | topic_names_option(topic_ids)
        if topic_ids is not None:
            options |= existence_option(spark, splits)
        options["splits"] = json.dumps([msgspec.structs.astuple(split) for split in splits])
        for table in INGESTED:
            rows = spark.read.format(FORMAT).option("table", table).options(**options).load()
            _write_parquet_partitioned_by_day(rows, lake.staged / table)
        requests = lake_table(spark, "requests", lake.staged)
        clients = clients_of_requests(SparkEngine(spark), requests, "date")
        _write_parquet_partitioned_by_day(clients, lake.staged / "clients")
        totals.files += lake.commit_staged_files(number)
        totals.segments += len({split.path for split in splits})
        totals.read_bytes += sum(split.end - split.start for split in splits)
        if on_progress is not None:
            on_progress(totals)

    with lake.exclusive_lock():
        totals.recovered = lake.complete_noted_run()
        pieces = spark.readStream.format(FORMAT).option("table", "pieces")
        run_stream(
            pieces.option("paths", json.dumps(paths)).load(),
            ingest_batch,
            every=every,
            checkpoint=lake.checkpoint,
        )
    return totals


def _stage_topic_ids(
    spark: "SparkSession", lake: Lake, splits: "list[Split]"
) -> "DataFrame | None":
    """Stage the topic ids of the splits; return them with those in the lake.

    The result is None if no accesses of the splits are derived.
    """
    from kafka_shim.pipeline.spark.trace_tables import lake_table, topic_id_table

    new = topic_id_table(spark, splits)
    if new is None:
        return None
    topic_ids = new.persist()
    _write_parquet_partitioned_by_day(topic_ids, lake.staged / "topic_ids")
    before = lake_table(spark, "topic_ids", lake.folder).select(*topic_ids.columns)
    return before.unionByName(topic_ids)


def _write_parquet_partitioned_by_day(rows: "DataFrame", folder: Path) -> None:
    dated = rows.withColumn("date", f.to_date("time")) if "time" in rows.columns else rows
    writer = dated.write  # fails if the folder exists
    if "date" in dated.columns:
        writer = writer.partitionBy("date")
    writer.option("compression", "zstd").parquet(str(folder))


def _add_ingest_options(job: argparse.ArgumentParser) -> None:
    job.add_argument(
        "-o",
        "--out",
        required=True,
        metavar="LAKE",
        type=absolute_location,
        help="Folder to write the tables to",
    )
    job.add_argument("--json", action="store_true", help="Print one JSON object")
    job.add_argument(
        "--follow", action="store_true", help="Keep reading new entries until interrupted"
    )
    add_stream_options(job, "1 minute")


def _run(args: argparse.Namespace, trace_input: "TraceInput") -> Outcome:
    from kafka_shim.pipeline.spark.progress import Progress

    def on_progress(totals: "IngestTotals") -> None:
        print(_totals_note(totals, args.out), file=sys.stderr, flush=True)

    with nullcontext() if args.follow else Progress("ingest", trace_input.spark):
        totals = ingest_new_data(
            trace_input.spark,
            args.trace,
            Path(args.out),
            trace_input.options["release"],
            every=args.every if args.follow else None,
            on_progress=on_progress if args.follow else None,
        )
    notes = ["finished an earlier, interrupted run first"] if totals.recovered else []
    notes.append(_totals_note(totals, args.out))
    return Outcome("ingest", [], [], [], msgspec.structs.asdict(totals), notes)


def _totals_note(totals: "IngestTotals", folder: str) -> str:
    note = f"read {totals.read_bytes} new bytes from {totals.segments} segments,"
    return f"{note} wrote {totals.files} files to {folder}"


JOB = Job(
    "Convert traces to Parquet tables (a lake); the next run reads only new entries",
    _add_ingest_options,
    _run,
    is_stream=True,
)
