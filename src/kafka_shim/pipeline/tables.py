"""The tables: an Arrow schema for each, from which Spark's DDL is made.

Spark rejects batches whose types differ from its own, so only common types are used:
timestamps are microseconds in UTC, lists are plain, nothing is dictionary-encoded.
"""

from typing import Final

import pyarrow as pa

_TIME = pa.timestamp("us", tz="UTC")
_TEXTS = pa.list_(pa.string())

_WHERE = [
    ("writer", pa.string()),  # the segment's writer, as in its file name
    ("connection", pa.int64()),  # unique for the writer
    ("sequence", pa.int64()),  # number of the request on its connection
    ("time", _TIME),
    ("node_id", pa.int32()),
    ("listener", pa.string()),
    ("principal", pa.string()),
    ("host", pa.string()),
]
_API = [("api", pa.string()), ("api_key", pa.int16()), ("api_version", pa.int16())]
_RESOURCE = [
    ("operation", pa.string()),
    ("resource_type", pa.string()),
    ("resource_name", pa.string()),
]
_DECISION = [
    ("role", pa.string()),  # see `kafka_shim.pipeline.rows.access_roles`
    ("instead", _TEXTS),  # accesses that, if all allowed, also meet the requirement
    (
        "source",
        pa.string(),
    ),  # recorded, derived or audit, as in `kafka_shim.trace_format.entries`
    ("allowed", pa.bool_()),  # null: unknown (derived accesses only)
    ("rule", pa.string()),
]

REQUESTS: Final = pa.schema(
    [
        *_WHERE,
        ("port", pa.int32()),
        *_API,
        ("correlation_id", pa.int32()),
        ("client_id", pa.string()),
        ("software_name", pa.string()),
        ("software_version", pa.string()),
        ("bytes", pa.int32()),
        ("redacted", pa.bool_()),
        ("topics", _TEXTS),
        ("groups", _TEXTS),
        ("transactional_ids", _TEXTS),
        ("undecoded", pa.string()),
    ]
)
RESPONSES: Final = pa.schema(
    [
        *_WHERE,
        *_API,
        ("client_id", pa.string()),  # the request's; null if that is in another split
        ("latency_us", pa.int64()),  # null in the same case
        ("bytes", pa.int32()),
        ("error_codes", pa.list_(pa.int16())),
        ("undecoded", pa.string()),
    ]
)
ACCESSES: Final = pa.schema([*_WHERE, *_API, *_RESOURCE, *_DECISION, ("count", pa.int64())])
OBSERVED: Final = pa.schema(
    [
        ("principal", pa.string()),
        ("host", pa.string()),
        *_API,
        *_RESOURCE,
        *_DECISION,
        ("requests", pa.int64()),
        ("first_seen", _TIME),
        ("last_seen", _TIME),
        ("example", pa.string()),  # writer/connection#sequence of the first one
    ]
)
"""The distinct accesses: all that an ACL set has to be asked about."""
REQUEST_ACCESSES: Final = pa.schema(
    [
        *(field for field in _WHERE if field[0] not in ("node_id", "listener")),
        ("api_key", pa.int16()),
        *_RESOURCE,
        *(field for field in _DECISION if field[0] != "rule"),
        ("requests", pa.int64()),
    ]
)
"""The accesses of distinct requests; where a request is one, `requests` counts all equal ones."""
CLIENTS: Final = pa.schema(
    [
        ("principal", pa.string()),
        ("host", pa.string()),
        ("software_name", pa.string()),
        ("software_version", pa.string()),
        ("client_id", pa.string()),
        *_API,
        ("requests", pa.int64()),
        ("first_seen", _TIME),
        ("last_seen", _TIME),
    ]
)
ADDED_NEEDS: Final = pa.schema(
    [
        *CLIENTS,
        *_RESOURCE,
        ("instead", _TEXTS),
        ("requirement", pa.string()),  # named as in `kafka-shim requirements`
    ]
)
"""What requests need in one release that they do not in another: see `rows.added_needs`."""
DAMAGE: Final = pa.schema(
    [
        ("path", pa.string()),
        ("at", pa.int64()),
        ("length", pa.int64()),
        ("reason", pa.string()),
        ("is_tail", pa.bool_()),
    ]
)
TOPIC_IDS: Final = pa.schema(
    [("writer", pa.string()), ("time", _TIME), ("topic_id", pa.string()), ("name", pa.string())]
)
"""Names that responses gave to topic ids (hexadecimal), of traces whose accesses are derived."""
SIGHTINGS: Final = pa.schema(
    [
        ("broker", pa.string()),
        ("kind", pa.string()),
        ("name", pa.string()),
        ("owner", pa.string()),
        ("topic_id", pa.string()),
        ("is_end", pa.bool_()),
        ("requests", pa.int64()),
        ("first_seen", _TIME),
        ("last_seen", _TIME),
    ]
)
"""What responses show to exist, and requests that end it: see `rows.entity_rows`."""
PIECES: Final = pa.schema(
    [
        ("path", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("at_block", pa.bool_()),
    ]
)
"""What there is to read, as `pipeline.rows.batches.Split`: a stream of it says what is new."""

TABLES: Final = {
    "requests": REQUESTS,
    "responses": RESPONSES,
    "accesses": ACCESSES,
    "observed": OBSERVED,
    "request_accesses": REQUEST_ACCESSES,
    "clients": CLIENTS,
    "added_needs": ADDED_NEEDS,
    "damage": DAMAGE,
    "topic_ids": TOPIC_IDS,
    "sightings": SIGHTINGS,
    "pieces": PIECES,
}

_DDL = {
    pa.string(): "string",
    pa.int16(): "short",
    pa.int32(): "int",
    pa.int64(): "long",
    pa.bool_(): "boolean",
    _TIME: "timestamp",
    _TEXTS: "array<string>",
    pa.list_(pa.int16()): "array<short>",
}


def spark_ddl(schema: pa.Schema) -> str:
    """Return a schema as Spark DDL: `principal string, time timestamp, ...`."""
    return ", ".join(f"`{field.name}` {_DDL[field.type]}" for field in schema)


def select_columns(schema: pa.Schema, names: list[str]) -> pa.Schema:
    """Return the columns with these names, in their order. Raise KeyError for an unknown one."""
    return pa.schema([schema.field(name) for name in names])
