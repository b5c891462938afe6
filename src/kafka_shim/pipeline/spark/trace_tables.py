"""The tables of traces or of a lake, for Spark."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from kafka_shim.pipeline.rows.batches import COUNTING_TABLES, SPLIT_BYTES, Split, plan_splits
from kafka_shim.pipeline.rows.existence import (
    existence_records_from_rows,
    merge_records_of_same_entity,
)
from kafka_shim.pipeline.rows.trace_facts import TABLES_FROM_TRACE_FACTS, may_have_derived_accesses
from kafka_shim.pipeline.selection_options import SIGHTINGS, TOPIC_IDS
from kafka_shim.pipeline.spark.data_source import FORMAT, trace_table
from kafka_shim.pipeline.tables import TABLES, spark_ddl

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def topic_id_table(spark: "SparkSession", splits: Iterable[Split]) -> "DataFrame | None":
    """Return the table `topic_ids` of splits whose accesses are derived; None if there are none."""
    wanted = [
        [split.path, split.start, split.end, split.at_block]
        for split in splits
        if may_have_derived_accesses(split.path)
    ]
    if not wanted:
        return None
    reader = spark.read.format(FORMAT).option("table", "topic_ids")
    return reader.option("splits", json.dumps(wanted)).load()


def topic_names_option(rows: "DataFrame | None") -> dict[str, str]:
    """Return the reader's option with the names of ids, from rows of `topic_ids`."""
    if rows is None:
        return {TOPIC_IDS: "{}"}
    found = rows.select("topic_id", "name").distinct().collect()
    return {TOPIC_IDS: json.dumps({row["topic_id"]: row["name"] for row in found})}


def existence_option(spark: "SparkSession", splits: Iterable[Split]) -> dict[str, str]:
    """Return the reader's option with what existed, from splits whose accesses are derived."""
    wanted = [
        msgspec.structs.astuple(split) for split in splits if may_have_derived_accesses(split.path)
    ]
    if not wanted:
        return {}
    reader = spark.read.format(FORMAT).option("table", "sightings")
    rows = reader.option("splits", json.dumps(wanted)).load()
    found = merge_records_of_same_entity(
        existence_records_from_rows(row.asDict() for row in rows.collect())
    )
    return {SIGHTINGS: msgspec.json.encode(found).decode()}


if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TASKS_A_PARTITION = 2
"""Tasks for each of Spark's shuffle partitions, of which a core has one or two."""
LARGE_TASK_BYTES_MAX = 1 << 30


class SparkTraceTables:
    """Tables of traces."""

    def __init__(self, spark: "SparkSession", paths: list[str], options: Mapping[str, str]) -> None:
        self._spark = spark
        self._paths = paths
        self._options = dict(options)

    def table(self, name: str, *columns: str) -> "DataFrame":
        """Return a table, or some of its columns, within the selection."""
        options = self._reader_options() if name in TABLES_FROM_TRACE_FACTS else self._options
        if name in COUNTING_TABLES:
            options = {"splitBytes": str(self._bytes_of_large_task())} | options
        return trace_table(self._spark, name, self._paths, options, columns)

    def _bytes_of_large_task(self) -> int:
        """Return the size of tasks for tables that count what is equal.

        A few large tasks for each core have fewer rows than many small ones, which have the same
        rows again.
        """
        size = sum(split.end - split.start for split in plan_splits(self._paths))
        tasks = TASKS_A_PARTITION * int(self._spark.conf.get("spark.sql.shuffle.partitions") or 1)
        return min(max(size // tasks, SPLIT_BYTES), LARGE_TASK_BYTES_MAX)

    def _reader_options(self) -> dict[str, str]:
        """Return the options, with names of topic ids and what existed if accesses are derived."""
        splits = plan_splits(self._paths)
        return (
            self._options
            | topic_names_option(topic_id_table(self._spark, splits))
            | existence_option(self._spark, splits)
        )


class SparkLakeTables:
    """Tables of a lake."""

    def __init__(self, spark: "SparkSession", folder: Path) -> None:
        self._spark = spark
        self._folder = folder

    def table(self, name: str, *columns: str) -> "DataFrame":
        """Return a table, or some of its columns; empty if the lake has no files of it."""
        rows = lake_table(self._spark, name, self._folder)
        return rows.select(*columns) if columns else rows


if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def lake_table(spark: "SparkSession", table: str, folder: Path) -> "DataFrame":
    """Return a table of a lake; empty if the lake has no files of it."""
    schema = spark_ddl(TABLES[table])
    if {"time", "first_seen"} & set(TABLES[table].names):
        schema += ", date date"
    if not (folder / table).is_dir():
        return spark.createDataFrame([], schema)
    return spark.read.schema(schema).parquet(str(folder / table))
