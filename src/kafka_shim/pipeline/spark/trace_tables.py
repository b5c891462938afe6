"""The tables of traces or of a lake, for Spark."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_shim.pipeline.rows.batches import COUNTING_TABLES, SPLIT_BYTES, plan_splits
from kafka_shim.pipeline.rows.trace_facts import TABLES_FROM_TRACE_FACTS
from kafka_shim.pipeline.spark.data_source import trace_table
from kafka_shim.pipeline.spark.lake_tables import lake_table
from kafka_shim.pipeline.spark.trace_facts_options import (
    existence_option,
    topic_id_table,
    topic_names_option,
)

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
