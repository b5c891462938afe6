"""`kafka-shim trace`: totals, entries, and those that fit, from a trace made here."""

import json
from pathlib import Path

import pytest

from protocol.enums import ApiKey, Operation, ResourceType
from protocol.messages.describe_acls_request import DescribeAclsRequest
from protocol.messages.describe_cluster_request import DescribeClusterRequest
from shim.cli import main
from shim.traces.recorder import Recorder
from tests.shim.play import Stage

ANY_ACL = DescribeAclsRequest(
    resource_type_filter=1, pattern_type_filter=1, operation=1, permission_type=1
)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    stage = Stage()
    recorder = stage.cluster.recorder = Recorder(tmp_path, stage.clock)
    stage.allow("User:bob", Operation.DESCRIBE, ResourceType.CLUSTER, "kafka-cluster")
    for principal in ("User:alice", "User:bob"):
        stage.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL, principal)
        stage.clock.advance(10)
    stage.ask(ApiKey.DESCRIBE_CLUSTER, 0, DescribeClusterRequest(), "User:bob")
    recorder.close()
    return tmp_path


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_info_counts_what_there_is(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "info", str(trace), "--json"]) == 0
    info = json.loads(capsys.readouterr().out)
    assert info["apis"] == {"DescribeAcls v3": 2, "DescribeCluster v0": 1}
    assert info["principals"] == {"User:bob": 2, "User:alice": 1}
    assert info["denials"] == {"User:alice DESCRIBE CLUSTER:kafka-cluster": 1}
    assert info["damage"] == 0
    assert main(["trace", "info", str(trace)]) == 0
    assert "DescribeAcls v3" in capsys.readouterr().out


def test_cat_gives_every_entry_decoded(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "cat", str(trace)]) == 0
    rows = lines(capsys)
    assert [row["entry"] for row in rows].count("request") == 3
    first = rows[0]
    assert first["request"]["resourceTypeFilter"] == 1  # type: ignore[index]
    answers = [row["response"] for row in rows if row["entry"] == "response"]
    assert [answer["errorCode"] for answer in answers] == [31, 0, 0]  # type: ignore[index]
    access = next(row for row in rows if row["entry"] == "access" and row["allowed"])
    assert access["rule"] == "CLUSTER|kafka-cluster|LITERAL|User:bob|*|DESCRIBE|ALLOW"


@pytest.mark.parametrize(
    ("conditions", "count"),
    [
        (["--principal", "User:alice"], 3),
        (["--api", "DescribeCluster"], 2),
        (["--denied"], 3),
        (["--text", "LITERAL"], 1),
        (["--denied", "--principal", "User:bob"], 0),
    ],
)
def test_grep_gives_what_fits(
    trace: Path, capsys: pytest.CaptureFixture[str], conditions: list[str], count: int
) -> None:
    assert main(["trace", "grep", str(trace), *conditions]) == 0
    assert len(lines(capsys)) == count


def test_damage_is_said(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = trace.glob("*.ktrace")
    path.write_bytes(path.read_bytes()[:-3])
    assert main(["trace", "info", str(trace)]) == 0
    assert "not yet written" in capsys.readouterr().err


def test_a_trace_that_is_not_there_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", "cat", str(tmp_path / "none")]) == 1
    assert "does not exist" in capsys.readouterr().err
