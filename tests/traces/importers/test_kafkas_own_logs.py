"""Logs of real brokers (3.9.1, 2.8.2, 4.3.1) are imported completely."""

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.protocol.enums import Operation, ResourceType
from kafka_shim.protocol.wire_json import SIZE
from kafka_shim.trace_format.segments import Damage, read_trace
from kafka_shim.traces.importers.authorizer_log import parse_authorizer_log_line
from kafka_shim.traces.importers.log_import import import_authorizer_log, import_request_log
from kafka_shim.traces.importers.request_log import exported_request_log_rows
from tests.oracle.real_kafka import numbers
from tests.recordings.audit.recording import GROUP, RELEASES, TRANSACTIONAL, recorded

HERE = Path(__file__).parent
EARLIER_REQUESTS = HERE / "kafka_requests_2.8.txt"
AUDIT = HERE / "kafka_authorizer.txt"
REQUESTS = HERE / "kafka_requests.txt"
SHARE_FETCHES = HERE / "kafka_requests_share.txt"
"""ShareFetch requests of 4.3.1, which logs no sizes of their records."""


def without_sizes(value: Any) -> Any:
    """Remove sizes of records, which Kafka logs instead of records and imported traces lack."""
    if isinstance(value, dict):
        return {
            key: without_sizes(content) for key, content in value.items() if not key.endswith(SIZE)
        }
    return [without_sizes(element) for element in value] if isinstance(value, list) else value


def test_every_decision_is_read(tmp_path: Path) -> None:
    lines = AUDIT.read_text().splitlines()
    report = import_authorizer_log(iter(lines), tmp_path)
    assert report.entries == len(lines) == 14
    for line in lines:
        found = parse_authorizer_log_line(line)
        assert found is not None
        assert found.allowed is (" is Allowed " in line)
        assert found.api_key >= 0
        assert found.rule in ("SuperUser", "DefaultDeny") or found.rule.count("|") == 6


@pytest.mark.parametrize("release", RELEASES)
def test_decisions_are_read_in_the_words_of_every_release(release: str) -> None:
    found = [parse_authorizer_log_line(line) for line in recorded(release)]
    assert [
        (
            decision.principal,
            decision.operation,
            decision.resource_type,
            decision.resource_name,
            decision.allowed,
        )
        for decision in found
        if decision is not None
    ] == [
        ("User:alice", Operation.DESCRIBE, ResourceType.TOPIC, "audited", False),
        ("User:alice", Operation.DESCRIBE, ResourceType.GROUP, GROUP, True),
        ("User:alice", Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, TRANSACTIONAL, False),
        ("User:alice", Operation.ALTER, ResourceType.CLUSTER, "kafka-cluster", False),
    ]
    rules = [decision.rule for decision in found if decision is not None]
    if numbers(release) >= (3,):
        denied = "DefaultDeny"
        allowed = f"GROUP|{GROUP}|LITERAL|User:alice|*|READ|ALLOW"
        assert rules == [denied, allowed, denied, denied]
    else:
        assert rules == [""] * 4


def test_every_request_is_imported_and_exported_as_logged(tmp_path: Path) -> None:
    lines = REQUESTS.read_text().splitlines()
    report = import_request_log(iter(lines), tmp_path)
    assert report.unread == 0
    assert report.entries == 2 * len(lines) > 20
    rows = list(exported_request_log_rows(tmp_path))
    assert len(rows) == len(lines)
    for line, row in zip(lines, rows, strict=True):
        theirs, _ = json.JSONDecoder().raw_decode(line, line.index("{"))
        for key in ("requestHeader", "request", "response"):
            assert without_sizes(row[key]) == without_sizes(theirs[key])
        for key in ("principal", "listener", "clientInformation"):
            assert row[key] == theirs[key]


def leaves(value: Any) -> list[str]:
    """Return the values of a message without its field names and without sizes of records."""
    if isinstance(value, dict):
        value = [content for key, content in value.items() if not key.endswith(SIZE)]
    if isinstance(value, list):
        return sorted(leaf for element in value for leaf in leaves(element))
    return [json.dumps(value)]


def test_no_values_are_lost_if_fields_had_other_names(tmp_path: Path) -> None:
    lines = EARLIER_REQUESTS.read_text().splitlines()
    report = import_request_log(iter(lines), tmp_path)
    assert (report.unread, report.unknown) == (0, {})
    rows = list(exported_request_log_rows(tmp_path))
    assert len(rows) == len(lines) > 20
    for line, row in zip(lines, rows, strict=True):
        theirs, _ = json.JSONDecoder().raw_decode(line, line.index("{"))
        assert leaves(row["response"]) == leaves(theirs["response"]), line
        if theirs["request"]:  # it is empty if the broker did not know the version
            assert leaves(row["request"]) == leaves(theirs["request"]), line


def test_share_fetches_are_read_without_their_records(tmp_path: Path) -> None:
    lines = SHARE_FETCHES.read_text().splitlines()
    report = import_request_log(iter(lines), tmp_path)
    assert (report.unread, report.unknown, report.entries) == (0, {}, 2 * len(lines))
    for line, row in zip(lines, exported_request_log_rows(tmp_path), strict=True):
        theirs, _ = json.JSONDecoder().raw_decode(line, line.index("{"))
        for response in (row["response"], theirs["response"]):
            (partition,) = response["responses"][0]["partitions"]
            partition.pop("records", partition.pop("recordsSizeInBytes", None))
        assert row["response"] == theirs["response"]


def test_an_unknown_field_is_reported(tmp_path: Path) -> None:
    line = REQUESTS.read_text().splitlines()[0].replace('"request":{', '"request":{"newer":1,', 1)
    report = import_request_log(iter([line, line]), tmp_path)
    assert report.entries == 4
    ((field, count),) = report.unknown.items()
    assert field.endswith("Request.newer")
    assert count == 2


def test_each_connection_has_the_address_of_its_client(tmp_path: Path) -> None:
    import_request_log(iter(REQUESTS.read_text().splitlines()), tmp_path)
    found = [block for block in read_trace(tmp_path) if not isinstance(block, Damage)]
    people = {who.port: who for block in found for who in block.body.connections}
    assert len(people) > 1
    assert all(who.host == "127.0.0.1" and who.port > 0 for who in people.values())


def test_a_request_with_an_unknown_name_of_a_field_is_not_imported_in_part(tmp_path: Path) -> None:
    line = next(
        line for line in EARLIER_REQUESTS.read_text().splitlines() if '"OFFSET_COMMIT"' in line
    )
    report = import_request_log(iter([line.replace('"groupId"', '"theGroup"')]), tmp_path)
    assert report.unread == 1
    assert "unknown field `theGroup`" in report.examples[0].reason
