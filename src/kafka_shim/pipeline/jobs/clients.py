"""Client software by principal, with the versions of each API that it sends."""

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from kafka_shim.pipeline.tables import CLIENTS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_KEYS = ("principal", "software_name", "software_version", "client_id", "api")
_MEASURES = ("requests", "first_seen", "last_seen")


def clients_of(requests: "DataFrame", *keys: str) -> "DataFrame":
    """Return the table `clients` from rows of `requests`; `keys` are further grouping columns."""
    names = [name for name in CLIENTS.names if name not in _MEASURES]
    return requests.groupBy(*names, *keys).agg(
        f.count("*").alias("requests"),
        f.min("time").alias("first_seen"),
        f.max("time").alias("last_seen"),
    )


def clients(counts: "DataFrame") -> "DataFrame":
    """Return one row per client and API; `counts` is the table `clients`."""
    rows = counts.groupBy(*_KEYS).agg(
        f.sort_array(f.collect_set("api_version")).alias("versions"),
        f.sort_array(f.collect_set("host")).alias("hosts"),
        f.sum("requests").alias("requests"),
        f.min("first_seen").alias("first_seen"),
        f.max("last_seen").alias("last_seen"),
    )
    return rows.orderBy(*_KEYS)
