"""Names of topic ids, found in a first pass where accesses are derived from requests."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_shim.pipeline.rows.batches import Split
from kafka_shim.pipeline.spark.source import FORMAT, TOPIC_IDS
from kafka_shim.protocol.trace.blocks import HEADER_BYTES, BlockError, read_body, read_header
from kafka_shim.protocol.trace.entries import DERIVED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def is_derived(path: str) -> bool:
    """Whether a segment's accesses are derived; its first block tells: a writer is of one kind."""
    with Path(path).open("rb") as file:
        try:
            header = read_header(file.read(HEADER_BYTES))
            if header.is_index:
                return False
            body = read_body(header, file.read(header.block_bytes - HEADER_BYTES))
        except BlockError:
            return True  # it may be
    return any(connection.accesses == DERIVED for connection in body.connections)


def id_rows(spark: "SparkSession", splits: Iterable[Split]) -> "DataFrame | None":
    """The table `topic_ids` of those pieces that can have some; None if none can."""
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
    """The option that names ids, from rows of `topic_ids`."""
    if rows is None:
        return {}
    found = rows.select("topic_id", "name").distinct().collect()
    return {TOPIC_IDS: json.dumps({row["topic_id"]: row["name"] for row in found})}
