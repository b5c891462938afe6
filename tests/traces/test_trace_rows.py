"""A trace's entries as plain rows."""

from pathlib import Path

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.trace_format.entries import BlockBody, Connection, Response
from kafka_shim.trace_format.segments import SegmentWriter
from kafka_shim.traces.trace_rows import TraceReader

REFUSAL = bytes.fromhex("00000007 0023 00000001 0012 0000 0004")
"""A response to an unknown version of ApiVersions: always in version 0 (KIP-511)."""


def test_an_unsupported_version_of_api_versions_is_decoded(tmp_path: Path) -> None:
    who = Connection(0, 1, 1, "PLAINTEXT", "10.0.0.1", 5000, "User:alice")
    writer = SegmentWriter(tmp_path, "broker")
    writer.write_block(BlockBody([who], [Response(0, 1, 1, ApiKey.API_VERSIONS, 99, REFUSAL)]))
    writer.close()
    (row,) = TraceReader(tmp_path).rows()
    assert (row["version"], row["correlation_id"], row["error_codes"]) == (99, 7, [35])
    assert row["response"] == {
        "errorCode": 35,
        "apiKeys": [{"apiKey": 18, "minVersion": 0, "maxVersion": 4}],
    }
