"""`kafka-shim trace`: summaries, entries, searches, and errors."""

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from kafka_shim.cli import EXIT_FAILURE, EXIT_USAGE, main
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.describe_cluster import DescribeClusterRequest
from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.observing.trace_recorder import TraceRecorder
from tests.shim.play import Stage
from tests.support.acl_filters import ANY_ACL
from tests.support.commands import SHIM, environment

FULL = Path("/dev/full")


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    stage = Stage()
    recorder = TraceRecorder(tmp_path, stage.clock)
    stage.dispatcher.set_recorder(recorder)
    stage.allow("User:bob", Operation.DESCRIBE, ResourceType.CLUSTER, "kafka-cluster")
    for principal in ("User:alice", "User:bob"):
        stage.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL, principal)
        stage.clock.advance(10)
    stage.ask(ApiKey.DESCRIBE_CLUSTER, 0, DescribeClusterRequest(), "User:bob")
    recorder.close()
    return tmp_path


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_info_counts_entries(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "info", str(trace), "--json"]) == 0
    info = json.loads(capsys.readouterr().out)
    assert info["apis"] == {"DescribeAcls v3": 2, "DescribeCluster v0": 1}
    assert info["principals"] == {"User:bob": 2, "User:alice": 1}
    assert info["denials"] == {"User:alice DESCRIBE CLUSTER:kafka-cluster": 1}
    assert info["damage"] == 0
    assert info["time_line"]["slot_seconds"] == 0.1
    assert info["time_line"]["slots"] == [{"start_us": 0, "requests": 3, "denials": 1}]
    assert main(["trace", "info", str(trace)]) == 0
    out = capsys.readouterr().out
    assert "DescribeAcls v3" in out
    assert "           3          0 s  ########################################  1" in out


def test_cat_prints_every_entry_decoded(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "cat", str(trace)]) == 0
    rows = lines(capsys)
    assert [row["entry"] for row in rows].count("request") == 3
    first = rows[0]
    assert first["request"]["resourceTypeFilter"] == 1  # type: ignore[index]
    responses = [row["response"] for row in rows if row["entry"] == "response"]
    assert [response["errorCode"] for response in responses] == [31, 0, 0]  # type: ignore[index]
    access = next(row for row in rows if row["entry"] == "access" and row["allowed"])
    assert access["rule"] == "CLUSTER|kafka-cluster|LITERAL|User:bob|*|DESCRIBE|ALLOW"


def test_cat_prints_readable_lines(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "cat", str(trace), "--lines"]) == 0
    found = [text[23:].strip() for text in capsys.readouterr().out.splitlines()]
    assert found[0].startswith('1/0  User:alice  -> DescribeAcls v3 {"resourceTypeFilter": 1, ')
    assert found[1] == (
        "1/0  User:alice  denied DESCRIBE CLUSTER:kafka-cluster for DescribeAcls v3 by DefaultDeny"
    )
    assert "<- DescribeAcls v3 CLUSTER_AUTHORIZATION_FAILED (31) {" in found[2]
    assert main(["trace", "grep", str(trace), "--lines", "--api", "DescribeCluster"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


@pytest.mark.parametrize(
    ("conditions", "count"),
    [
        (["--principal", "User:alice"], 3),
        (["--api", "DescribeCluster"], 2),
        (["--api", "describe_cluster"], 2),
        (["--denied"], 3),
        (["--text", "LITERAL"], 1),
        (["--denied", "--principal", "User:bob"], 0),
    ],
)
def test_grep_returns_matching_entries(
    trace: Path, capsys: pytest.CaptureFixture[str], conditions: list[str], count: int
) -> None:
    assert main(["trace", "grep", str(trace), *conditions]) == 0
    assert len(lines(capsys)) == count


@pytest.mark.parametrize("words", [["info"], ["cat"], ["grep"], ["export"]])
def test_every_subcommand_reports_damage(
    words: list[str], trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (path,) = trace.glob("*.ktrace")
    path.write_bytes(path.read_bytes()[:-3])
    assert main(["trace", *words, str(trace)]) == 0
    assert "not yet written" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["info"], ["cat"], ["grep"], ["export"]])
def test_an_invalid_trace_is_reported_in_one_line(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text").write_text("nothing that was ever recorded")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").touch()
    (tmp_path / "empty").mkdir()
    for name, says in (
        ("none", "`{}` does not exist"),
        ("text", "`{}` is not a kafka-shim trace: it has no valid block"),
        ("other", "`{}` has no trace: it contains no segment (*.ktrace)"),
        ("empty", "`{}` is empty, as the folder of a recording is if no client sent a request"),
    ):
        place = tmp_path / name
        assert main(["trace", *words, str(place)]) == EXIT_USAGE
        out, err = capsys.readouterr()
        assert (out, err) == ("", f"kafka-shim trace {words[0]}: {says.format(place)}\n")


def test_an_empty_segment_is_a_valid_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorder = TraceRecorder(tmp_path, ManualClock(0))
    assert main(["trace", "info", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "0.000 seconds\n"
    recorder.close()


@pytest.mark.parametrize(
    ("condition", "says"),
    [
        (["--api", "Fech"], "did you mean `Fetch`"),
        (["--principal", "bob"], "--principal `bob`: expected Type:name"),
    ],
)
def test_invalid_conditions_are_rejected(
    trace: Path, capsys: pytest.CaptureFixture[str], condition: list[str], says: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["trace", "grep", str(trace), *condition])
    assert ended.value.code == EXIT_USAGE
    assert says in capsys.readouterr().err


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("words", [["info"], ["cat"], ["export"]])
def test_unwritable_output_is_reported_in_one_line(words: list[str], trace: Path) -> None:
    with FULL.open("w") as full:
        done = subprocess.run(
            [*SHIM, "trace", *words, str(trace)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
            env=environment(),
        )
    assert done.returncode == EXIT_FAILURE
    assert done.stderr == f"kafka-shim trace {words[0]}: No space left on device\n"


@pytest.fixture
def interrupts() -> Iterator[None]:
    """Let processes react to SIGINT, also if a shell runs the tests in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_a_trace_is_viewed_until_ctrl_c(trace: Path) -> None:
    words = [*SHIM, "trace", "view", str(trace), "--principal", "User:alice"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=environment(), text=True) as view:
        assert view.stdout is not None
        url = view.stdout.readline().split(" ")[0]
        with urlopen(url.replace("/inspector", "/health"), timeout=10) as response:
            assert json.load(response) == {"recording": str(trace), "requests": 1}
        view.send_signal(signal.SIGINT)
        try:
            assert view.wait(10) == 130
        finally:
            view.kill()


def test_a_port_out_of_range_is_rejected(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "view", str(trace), "--port", "70000"]) == EXIT_USAGE
    assert "--port `70000`: expected 0 to 65535" in capsys.readouterr().err
