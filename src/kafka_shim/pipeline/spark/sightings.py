"""What existed when, from a first pass, for traces whose accesses are derived."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from kafka_shim.pipeline.rows.batches import Split
from kafka_shim.pipeline.rows.first_pass import is_derived
from kafka_shim.pipeline.rows.lives import merged, seen_in
from kafka_shim.pipeline.spark.source import FORMAT, SIGHTINGS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def seen(spark: "SparkSession", splits: Iterable[Split]) -> dict[str, str]:
    """Return the reader's option with what existed, from splits whose accesses are derived."""
    wanted = [msgspec.structs.astuple(split) for split in splits if is_derived(split.path)]
    if not wanted:
        return {}
    reader = spark.read.format(FORMAT).option("table", "sightings")
    rows = reader.option("splits", json.dumps(wanted)).load()
    found = merged(seen_in(row.asDict() for row in rows.collect()))
    return {SIGHTINGS: msgspec.json.encode(found).decode()}
