"""The columns in docs/reference/tables.md, made from the schemas of the tables."""

import re
from typing import Final

from kafka_shim.pipeline.tables import TABLES, spark_ddl
from tests.docs.shown import ROOT

PAGE: Final = ROOT / "docs" / "reference" / "tables.md"
_PART: Final = re.compile(r"(<!-- columns -->\n).*(<!-- end of the columns -->)", re.DOTALL)
_COLUMN: Final = re.compile(r"`(\w+)` (.+?)(?:, (?=`)|$)")
_ROWS: Final = {
    "requests": "One row for each request.",
    "responses": "One row for each response.",
    "accesses": "One row for each decision of the authorizer.",
    "observed": "One row for each distinct access. Not written to Parquet.",
    "clients": "One row for each client and API version; in Parquet, also for each micro-batch.",
    "damage": "One row for each unreadable part of a trace.",
    "topic_ids": "Names of topic ids, for traces whose accesses are derived.",
}
"""What a row of each table that pages show stands for."""
_MEANINGS: Final = {
    "writer": "process that wrote the segment, as in its file name",
    "connection": "number of the connection, unique per writer",
    "sequence": "number of the request on its connection, from 0",
    "time": "when the request arrived, the response was sent, or the decision was made",
    "node_id": "broker",
    "listener": "listener's name",
    "principal": "principal of the client, such as `User:alice`",
    "host": "client's address as the broker saw it; ACLs for hosts apply to it",
    "port": "client's port",
    "api": "Kafka's name of the API",
    "api_key": "number of the API",
    "api_version": "version of the request",
    "correlation_id": "correlation id of the request",
    "client_id": "the client's `client.id`; null for a response whose request is in another split",
    "software_name": "client library, since KIP-511",
    "software_version": "version of the client library",
    "bytes": "size of the frame",
    "redacted": "whether secrets were removed, which changes the size",
    "topics": "topics that the request names",
    "groups": "groups that the request names",
    "transactional_ids": "transactional ids that the request names",
    "undecoded": "why the frame could not be read; null if it could",
    "latency_us": "microseconds since the request; null if the request is in another split",
    "error_codes": "distinct error codes in the response, without 0",
    "operation": "such as `READ`",
    "resource_type": "such as `TOPIC`",
    "resource_name": "name; `*` for any resource of the type",
    "role": "its [role](../guides/pipeline.md#accesses), such as `required`",
    "instead": "accesses that together would also have been enough",
    "source": "`recorded`, `derived` or `audit`",
    "allowed": "whether the access was allowed; null if unknown",
    "rule": "the ACL that decided, or `SuperUser`, `DefaultDeny`, `DefaultAllow`",
    "count": "number of elements of the request that needed it, such as partitions",
    "requests": "number of requests",
    "first_seen": "time of the first request",
    "last_seen": "time of the last request",
    "example": "the first request, as `writer/connection#sequence`",
    "path": "path of the segment",
    "at": "byte where the damage begins",
    "length": "bytes that could not be read",
    "reason": "what is wrong there",
    "is_tail": "whether it is at the end of a segment that may still be written",
    "topic_id": "hexadecimal",
    "name": "the topic's name, as a response had it",
}
"""What a column has, in every table with a column of this name."""


def tables_page() -> str:
    """Return the page with its tables of columns replaced."""
    lines: list[str] = []
    for table, row in _ROWS.items():
        lines += [f"### {table}", "", row, "", "| column | type | meaning |", "|---|---|---|"]
        lines += [
            f"| `{name}` | {kind} | {_MEANINGS[name]} |"
            for name, kind in _COLUMN.findall(spark_ddl(TABLES[table]))
        ]
        lines.append("")
    text = "\n".join(lines)
    page = PAGE.read_text(encoding="utf-8")
    return _PART.sub(lambda part: f"{part[1]}\n{text}\n{part[2]}", page)
