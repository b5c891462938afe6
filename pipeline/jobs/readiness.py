"""What an upgrade breaks: versions that clients send and it dropped, rules that it changes."""

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from kafka_shim.authorizer.requirement import BoundRequirement
from kafka_shim.authorizer.requirements import TABLE, bind
from kafka_shim.protocol.api_versions import served

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

DROPPED = "version dropped"
RULE = "rule changes"
_SCHEMA = "api_key short, api_version short, finding string, detail string"


def readiness(clients: "DataFrame", present: str, target: str) -> "DataFrame":
    """Findings by client, those that stop working first; `clients` is the table of that name."""
    used = [
        (row["api_key"], row["api_version"])
        for row in clients.select("api_key", "api_version").distinct().collect()
    ]
    found = [
        (key, version, finding, detail)
        for key, version in used
        for finding, detail in findings(key, version, present, target)
    ]
    known = clients.sparkSession.createDataFrame(found, _SCHEMA)
    rows = clients.join(f.broadcast(known), ["api_key", "api_version"])
    keys = ("finding", "api", "api_version", "principal", "software_name", "software_version")
    grouped = rows.groupBy(*keys, "client_id", "detail").agg(
        f.sort_array(f.collect_set("host")).alias("hosts"),
        f.sum("requests").alias("requests"),
        f.min("first_seen").alias("first_seen"),
        f.max("last_seen").alias("last_seen"),
    )
    order = f.when(f.col("finding") == DROPPED, 0).otherwise(1)
    return grouped.orderBy(order, f.desc("requests"), *keys[1:], "client_id", "detail")


def findings(api_key: int, version: int, present: str, target: str) -> list[tuple[str, str]]:
    """What becomes of requests of one API and version: (finding, detail) pairs."""
    ranges = {int(key): span for key, span in served(target).items()}
    span = ranges.get(api_key)
    if span is None:
        return [(DROPPED, f"{target} does not have this API")]
    if not span[0] <= version <= span[1]:
        return [(DROPPED, f"{target} has versions {span[0]} to {span[1]}")]
    before, after = bind(present), bind(target)
    return [
        (RULE, f"{row.id}: {_needs(before[row], version)} -> {_needs(after[row], version)}")
        for row in TABLE
        if row.api == api_key and _needs(before[row], version) != _needs(after[row], version)
    ]


def _needs(bound: BoundRequirement, version: int) -> str:
    if not bound.asks(version):
        return "nothing"
    texts = (f"{need.operation.name} on {need.resource_type.name}" for need in bound.needs)
    return " or ".join(dict.fromkeys(texts))
