"""Write traces to Parquet as a stream of new data: each micro-batch completely, and once.

Spark's checkpoint records the content of a micro-batch before it begins, so an interrupted one is
repeated with the same pieces; the lake ignores batches that it already has.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from pyspark.sql import functions as f

from kafka_shim.pipeline.jobs.clients import clients_of
from kafka_shim.pipeline.rows.batches import Split
from kafka_shim.pipeline.spark.lake import Lake
from kafka_shim.pipeline.spark.run_stream import run_stream
from kafka_shim.pipeline.spark.sightings import seen
from kafka_shim.pipeline.spark.source import FORMAT
from kafka_shim.pipeline.spark.topic_ids import id_rows, named
from kafka_shim.pipeline.tables import TABLES, ddl

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

INGESTED = ("requests", "responses", "accesses", "damage")
"""Tables with a row for each entry; `clients` is counted from them, in each micro-batch."""


class Ingested(msgspec.Struct):
    """What was ingested: segments with new data (counted in each micro-batch), bytes, files."""

    segments: int = 0
    read_bytes: int = 0
    files: int = 0
    recovered: bool = False


def ingest(
    spark: "SparkSession",
    paths: list[str],
    folder: Path,
    release: str,
    *,
    every: str | None = None,
    tell: Callable[[Ingested], None] | None = None,
) -> Ingested:
    """Add new data of traces to a lake; with `every`, continue until interrupted.

    `tell` is called after each micro-batch with the totals so far.
    """
    lake = Lake(folder)
    done = Ingested()

    def take(pieces: "DataFrame", number: int) -> None:
        splits = [Split(*row) for row in pieces.collect()]
        if not splits or lake.has(number):  # the lake has it if Spark ended before it recorded that
            return
        options = {"release": release} | _names(spark, lake, splits)
        options["splits"] = json.dumps([msgspec.structs.astuple(split) for split in splits])
        for table in INGESTED:
            rows = spark.read.format(FORMAT).option("table", table).options(**options).load()
            _stage(rows, lake.staged / table)
        requests = lake_table(spark, "requests", lake.staged)
        _stage(clients_of(requests, "date"), lake.staged / "clients")
        done.files += lake.commit(number)
        done.segments += len({split.path for split in splits})
        done.read_bytes += sum(split.end - split.start for split in splits)
        if tell is not None:
            tell(done)

    with lake.alone():
        done.recovered = lake.recover()
        pieces = spark.readStream.format(FORMAT).option("table", "pieces")
        run_stream(
            pieces.option("paths", json.dumps(paths)).load(),
            take,
            every=every,
            checkpoint=lake.checkpoint,
        )
    return done


def _names(spark: "SparkSession", lake: Lake, splits: list[Split]) -> dict[str, str]:
    """Stage new names of topic ids; return reader options with all names and what existed."""
    new = id_rows(spark, splits)
    if new is None:
        return named(None)
    kept = new.persist()
    _stage(kept, lake.staged / "topic_ids")
    before = lake_table(spark, "topic_ids", lake.folder).select(*kept.columns)
    return named(before.unionByName(kept)) | seen(spark, splits)


def _stage(rows: "DataFrame", target: Path) -> None:
    dated = rows.withColumn("date", f.to_date("time")) if "time" in rows.columns else rows
    writer = dated.write.mode("overwrite")
    if "date" in dated.columns:
        writer = writer.partitionBy("date")
    writer.option("compression", "zstd").parquet(str(target))


def lake_table(spark: "SparkSession", table: str, folder: Path) -> "DataFrame":
    """Return a table of a lake; empty if the lake has no files of it."""
    schema = ddl(TABLES[table])
    if {"time", "first_seen"} & set(TABLES[table].names):
        schema += ", date date"
    if not (folder / table).is_dir():
        return spark.createDataFrame([], schema)
    return spark.read.schema(schema).parquet(str(folder / table))
