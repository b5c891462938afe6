"""Traces into Parquet, incrementally: a run reads only what is new, and all of it or nothing."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from pyspark.sql import functions as f

from pipeline.batches import Split, plan
from pipeline.lake import Lake
from pipeline.source import FORMAT
from pipeline.tables import TABLES, ddl
from pipeline.written import whole_bytes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

INGESTED = ("requests", "responses", "accesses", "damage")
"""Tables with a row for each entry; the others are made from them."""


class Ingested(msgspec.Struct):
    """What a run did."""

    segments: int
    read_bytes: int
    files: int
    recovered: bool


def ingest(spark: "SparkSession", paths: list[str], folder: Path, release: str) -> Ingested:
    """Bring a lake up to date with traces; one process at a time."""
    lake = Lake(folder)
    recovered = lake.recover()
    before = lake.positions()
    read: dict[str, int] = {}
    for split in plan(paths):
        read.setdefault(str(Path(split.path).resolve()), 0)
    for name in list(read):
        read[name] = whole_bytes(Path(name), before.get(name, 0))
    new = {name: end for name, end in read.items() if end > before.get(name, 0)}
    if not new:
        return Ingested(0, 0, 0, recovered)
    splits = [
        msgspec.structs.astuple(Split(name, before.get(name, 0), end, at_block=True))
        for name, end in new.items()
    ]
    for table in INGESTED:
        _stage(spark, table, json.dumps(splits), lake.staged / table, release)
    files = lake.commit(new)
    total = sum(end - start for _, start, end, _ in splits)
    return Ingested(len(new), total, files, recovered)


def _stage(spark: "SparkSession", table: str, splits: str, target: Path, release: str) -> None:
    reader = spark.read.format(FORMAT).option("table", table).option("splits", splits)
    frame = reader.option("release", release).load()
    writer = frame.write
    if "time" in TABLES[table].names:
        writer = frame.withColumn("date", f.to_date("time")).write.partitionBy("date")
    writer.option("compression", "zstd").parquet(str(target))


def lake_table(spark: "SparkSession", table: str, folder: Path) -> "DataFrame":
    """One table of a lake as it is now; empty if nothing of it was ever there."""
    schema = ddl(TABLES[table])
    if "time" in TABLES[table].names:
        schema += ", date date"
    if not (folder / table).is_dir():
        return spark.createDataFrame([], schema)
    return spark.read.schema(schema).parquet(str(folder / table))
