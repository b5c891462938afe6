"""Names of topic ids, from a first pass, for traces whose accesses are derived."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kafka_shim.pipeline.rows.batches import Split
from kafka_shim.pipeline.rows.first_pass import is_derived
from kafka_shim.pipeline.spark.source import FORMAT, TOPIC_IDS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def id_rows(spark: "SparkSession", splits: Iterable[Split]) -> "DataFrame | None":
    """Return the table `topic_ids` of splits whose accesses are derived; None if there are none."""
    wanted = [
        [split.path, split.start, split.end, split.at_block]
        for split in splits
        if is_derived(split.path)
    ]
    if not wanted:
        return None
    reader = spark.read.format(FORMAT).option("table", "topic_ids")
    return reader.option("splits", json.dumps(wanted)).load()


def named(rows: "DataFrame | None") -> dict[str, str]:
    """Return the reader's option with the names of ids, from rows of `topic_ids`."""
    if rows is None:
        return {TOPIC_IDS: "{}"}
    found = rows.select("topic_id", "name").distinct().collect()
    return {TOPIC_IDS: json.dumps({row["topic_id"]: row["name"] for row in found})}
