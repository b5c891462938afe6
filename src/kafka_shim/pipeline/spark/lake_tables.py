"""The tables of a lake as DataFrames."""

from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from kafka_shim.pipeline.tables import CLIENTS, TABLES, spark_ddl

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_CLIENT_MEASURES = ("requests", "first_seen", "last_seen")


def lake_table(spark: "SparkSession", table: str, folder: Path) -> "DataFrame":
    """Return a table of a lake; empty if the lake has no files of it."""
    schema = spark_ddl(TABLES[table])
    if {"time", "first_seen"} & set(TABLES[table].names):
        schema += ", date date"
    if not (folder / table).is_dir():
        return spark.createDataFrame([], schema)
    return spark.read.schema(schema).parquet(str(folder / table))


def clients_table_rows(requests: "DataFrame", *keys: str) -> "DataFrame":
    """Return the table `clients` from rows of `requests`; `keys` are further grouping columns."""
    names = [name for name in CLIENTS.names if name not in _CLIENT_MEASURES]
    return requests.groupBy(*names, *keys).agg(
        f.count("*").alias("requests"),
        f.min("time").alias("first_seen"),
        f.max("time").alias("last_seen"),
    )
