"""Options of the reader with facts of a first pass, for traces whose accesses are derived."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from kafka_shim.pipeline.rows.batches import Split
from kafka_shim.pipeline.rows.existence import (
    existence_records_from_rows,
    merge_records_of_same_entity,
)
from kafka_shim.pipeline.rows.trace_facts import may_have_derived_accesses
from kafka_shim.pipeline.selection_options import SIGHTINGS, TOPIC_IDS
from kafka_shim.pipeline.spark.data_source import FORMAT

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
