"""A trace that does not show who its clients are proposes nothing about their ACLs.

The truth is the log of the real broker on which the traffic was captured: the ACLs that it used.
"""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl, Action, Actor
from kafka_shim.authorizer.store import AclStore
from kafka_shim.cli import main
from kafka_shim.policy.formats import format_acls_losslessly
from kafka_shim.policy.formats.trace_rule import format_acl_rule
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.trace_format.entries import UNKNOWN_PRINCIPAL
from kafka_shim.traces.captures.capture_files import read_packets
from kafka_shim.traces.captures.capture_import import import_capture
from kafka_shim.traces.captures.tcp_stream import Segment, parse_tcp_segment
from kafka_shim.traces.importers.authorizer_log import (
    LoggedDecision,
    parse_authorizer_log_line,
)
from tests.pipeline.agreement import RELEASE
from tests.recordings.traffic.grants import acls
from tests.recordings.traffic.recording import ARCHIVES, AUDIT_LOG, CAPTURE, PROXY
from tests.support.checked_folders import PIPELINE
from tests.traces.captures.wires import capture_of

pytestmark = PIPELINE

SASL_AUTHENTICATE = int(ApiKey.SASL_AUTHENTICATE).to_bytes(2, "big")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    ARCHIVES.extract(RELEASE, folder)
    return folder


def segments_after_authentication(capture: Path) -> Iterator[Segment]:
    """Yield the segments of each connection after the broker has accepted its client."""
    authenticating, accepted = set[Any](), set[Any]()
    with capture.open("rb") as file:
        for packet in read_packets(file):
            segment = parse_tcp_segment(packet)
            if not isinstance(segment, Segment):
                continue
            ends = frozenset({segment.source, segment.target})
            if ends in accepted:
                yield segment
            elif segment.data[4:6] == SASL_AUTHENTICATE:
                authenticating.add(ends)
            elif segment.data and ends in authenticating:
                accepted.add(ends)


@pytest.fixture(scope="module", params=["capture that began late", "export of a trace"])
def unknown_trace(request: Any, run: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    trace = tmp_path_factory.mktemp("imported") / "trace"
    if request.param == "export of a trace":
        exported = trace.with_name("exported.pcap")
        words = ["trace", "export", str(run / PROXY), "--format", "pcap"]
        assert main([*words, "--out", str(exported)]) == 0
        file: Any = io.BytesIO(exported.read_bytes())
    else:
        file = capture_of(segments_after_authentication(run / CAPTURE))
    report = import_capture(file, trace)
    assert report.requests > 100
    return str(trace)


def granted() -> list[Acl]:
    """Return the ACLs of the run: the request has the fields of an ACL, in its order."""
    return [
        Acl(
            ResourceType(each.resource_type),
            each.resource_name,
            PatternType(each.resource_pattern_type),
            each.principal,
            each.host,
            Operation(each.operation),
            Permission(each.permission_type),
        )
        for each in acls()
    ]


@pytest.fixture(scope="module")
def acl_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("acls") / "acls.yaml"
    path.write_text(format_acls_losslessly(granted(), "yaml"))
    return str(path)


@pytest.fixture(scope="module")
def logged(run: Path) -> list[LoggedDecision]:
    """Return the decisions that the real broker made by an ACL."""
    lines = map(parse_authorizer_log_line, (run / AUDIT_LOG).read_text().splitlines())
    return [line for line in lines if line is not None and "|" in line.rule]


def result(capsys: Any, *words: str) -> dict[str, Any]:
    main(["pipeline", *words, "--engine", "duckdb", "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_broker_would_decide_in_the_same_way_after_each_proposed_removal(
    unknown_trace: str, acl_file: str, logged: list[LoggedDecision], capsys: Any
) -> None:
    found = result(capsys, "unused-acls", unknown_trace, "--acls", acl_file)
    rows = {row["acl"]: row for row in found["rows"]}
    used = {line.rule for line in logged} & rows.keys()
    assert len(used) > 20
    proposed = {acl for acl, row in rows.items() if row["can_go"]}
    assert {rows[acl]["shadowed_by"] for acl in used & proposed} <= rows.keys() - proposed
    assert {rows[acl]["state"] for acl in used - proposed} == {"not known"}
    rest = [acl for acl in granted() if format_acl_rule(acl) not in proposed]
    authorizer = StandardAuthorizer(store=AclStore(rest))
    for line in logged:
        action = Action(line.operation, line.resource_type, line.resource_name)
        decision = authorizer.authorize(Actor(line.principal, line.host), action)
        assert decision.allowed == line.allowed, line


def test_other_jobs_judge_no_access_of_an_unknown_client(
    unknown_trace: str, acl_file: str, capsys: Any
) -> None:
    denials = result(capsys, "denials", unknown_trace)
    assert denials["rows"] == []
    assert denials["considered"] == 0
    assert sum(total["principals"].get(UNKNOWN_PRINCIPAL, 0) for total in denials["left_out"]) > 50
    assert result(capsys, "least-acls", unknown_trace)["rows"] == []
    assert result(capsys, "what-breaks", unknown_trace, "--acls", acl_file)["rows"] == []


def test_a_client_without_authentication_is_anonymous(tmp_path: Path) -> None:
    from tests.shim.observing.test_recorder import entries
    from tests.traces.captures.wires import conversation

    import_capture(capture_of(conversation(3)), tmp_path / "whole")
    import_capture(capture_of(conversation(3)[3:]), tmp_path / "late", frozenset({9092}))
    principals = [
        {connection.principal for connection, _ in entries(tmp_path / name)[0]}
        for name in ("whole", "late")
    ]
    assert principals == [{"User:ANONYMOUS"}, {UNKNOWN_PRINCIPAL}]
