"""Denials derived from responses agree with the authorizer log of a real broker."""

import json
from pathlib import Path

import pytest

from kafka_shim.cli import main
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.trace_format.entries import (
    DERIVED,
    Access,
    BlockBody,
    Connection,
    Request,
    Response,
)
from kafka_shim.trace_format.segments import SegmentWriter
from tests.pipeline.real_accesses import recorded
from tests.recordings.traffic.recording import ARCHIVES, PROXY

RELEASE = "4.3.1"
KEYS = {key.wire_name: key for key in ApiKey}


def written(folder: Path) -> Path:
    """Write the recorded requests and responses as a trace without decisions."""
    who = Connection(0, 1, 1, "SASL", "10.0.0.1", 5000, "User:alice", access_source=DERIVED)
    writer = SegmentWriter(folder, "proxy")
    for number, exchange in enumerate(recorded(RELEASE).exchanges):
        request, response = bytes.fromhex(exchange.request), bytes.fromhex(exchange.response)
        key = KEYS[exchange.api]
        answer = Response(0, number, number, key, exchange.version, response)
        writer.write_block(BlockBody([who], [Request(0, number, number, request), answer]))
    writer.close()
    return folder


def test_denials_of_a_broker_are_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "grep", str(written(tmp_path)), "--denied"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = {
        (row["sequence"], row["operation"], row["resource_type"], row["resource_name"])
        for row in rows
        if row["entry"] == "access"
    }
    logged = {
        (number, decision.operation, decision.resource_type, decision.resource_name)
        for number, exchange in enumerate(recorded(RELEASE).exchanges)
        for decision in exchange.decisions
        if not decision.allowed
    }
    assert found <= logged
    assert len(found) > 20
    with_denials = {row["sequence"] for row in rows}
    codes = {row["sequence"] for row in rows if {29, 30, 53} & {*row.get("error_codes", ())}}
    assert codes <= with_denials


def test_derived_denials_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "info", str(written(tmp_path)), "--json"]) == 0
    info = json.loads(capsys.readouterr().out)
    assert info["denials"]["User:alice READ TOPIC:closed"] > 1
    assert sum(slot["denials"] for slot in info["time_line"]["slots"]) == sum(
        info["denials"].values()
    )


def test_operations_of_a_later_kafka_are_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    who = Connection(0, 1, 1, "SASL", "h", 1, "User:a")
    writer = SegmentWriter(tmp_path, "broker-1")
    writer.write_block(
        BlockBody([who], [Access(0, 0, 0, 1, 17, 99, 77, "orders", allowed=False, rule="x")])
    )
    writer.close()
    assert main(["trace", "cat", str(tmp_path), "--lines"]) == 0
    assert "denied 99 77:orders for Fetch v17 by x" in capsys.readouterr().out
    assert main(["trace", "info", str(tmp_path)]) == 0
    assert "User:a 99 77:orders" in capsys.readouterr().out


def test_an_ambiguous_denial_is_marked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """alice may DESCRIBE the missing topic `seen-only`, and not CREATE it."""
    ARCHIVES.extract(RELEASE, tmp_path)
    assert main(["trace", "grep", str(tmp_path / PROXY), "--denied", "--lines"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (line,) = (line for line in lines if "denied DESCRIBE TOPIC:seen-only" in line)
    assert line.endswith("by the response, unless CREATE was denied")
    (line, *_) = (line for line in lines if "denied WRITE TOPIC:payments" in line)
    assert line.endswith("by the response")
