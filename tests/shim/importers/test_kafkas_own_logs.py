"""Logs that a real broker (Kafka 3.9.1) wrote while librdkafka worked with it."""

import json
from pathlib import Path
from typing import Any

from protocol.trace.segments import Block, Damage, read_trace
from shim.importers.audit_log import parse_line
from shim.importers.into_trace import import_audit_log, import_request_log
from shim.importers.request_log_export import export_rows

HERE = Path(__file__).parent
AUDIT = HERE / "kafka_authorizer.txt"
REQUESTS = HERE / "kafka_requests.txt"
SIZE = "recordsSizeInBytes"


def without_sizes(value: Any) -> Any:
    """The log has only the size of records, an imported trace has none of them."""
    if isinstance(value, dict):
        return {key: without_sizes(one) for key, one in value.items() if key != SIZE}
    return [without_sizes(one) for one in value] if isinstance(value, list) else value


def test_every_decision_is_read(tmp_path: Path) -> None:
    lines = AUDIT.read_text().splitlines()
    report = import_audit_log(iter(lines), tmp_path)
    assert report.entries == len(lines) == 14
    for line in lines:
        found = parse_line(line)
        assert found is not None
        assert found.allowed is (" is Allowed " in line)
        assert found.api_key >= 0
        assert found.rule in ("SuperUser", "DefaultDeny") or found.rule.count("|") == 6


def test_every_request_is_read_and_exports_as_kafka_wrote_it(tmp_path: Path) -> None:
    lines = REQUESTS.read_text().splitlines()
    report = import_request_log(iter(lines), tmp_path)
    assert report.refused == []
    assert report.entries == 2 * len(lines) > 20
    rows = list(export_rows(tmp_path))
    assert len(rows) == len(lines)
    for line, row in zip(lines, rows, strict=True):
        theirs, _ = json.JSONDecoder().raw_decode(line, line.index("{"))
        for key in ("requestHeader", "request", "response"):
            assert without_sizes(row[key]) == without_sizes(theirs[key])
        for key in ("principal", "listener", "clientInformation"):
            assert row[key] == theirs[key]


def test_connections_are_kept_apart_with_their_peers(tmp_path: Path) -> None:
    import_request_log(iter(REQUESTS.read_text().splitlines()), tmp_path)
    found = [one for one in read_trace(tmp_path) if not isinstance(one, Damage)]
    people = {
        who.port: who for one in found if isinstance(one, Block) for who in one.body.connections
    }
    assert len(people) > 1
    assert all(who.host == "127.0.0.1" and who.port > 0 for who in people.values())
