"""The tables of a lake as DataFrames."""

from pathlib import Path
from typing import TYPE_CHECKING

from kafka_shim.pipeline.tables import TABLES, spark_ddl

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
