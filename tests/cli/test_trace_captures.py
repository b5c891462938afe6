"""`kafka-shim trace import` and `export` with captures: reports and errors."""

import json
from pathlib import Path

import pytest

from kafka_shim.cli import main
from tests.cli.test_trace_import import trace  # noqa: F401 -- a fixture
from tests.traces.captures.wires import capture_of, conversation


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    segments = conversation(3, segment_bytes=1000)
    path = tmp_path / "some.pcap"
    path.write_bytes(capture_of(segments[:5] + segments[6:]).getvalue())
    return path


def test_an_import_reports_entries_and_losses(
    capture: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["trace", "import", "--input-format", "pcap", str(capture)]
    assert main([*words, str(tmp_path / "one")]) == 0
    said = capsys.readouterr().err
    assert "1 connections to Kafka (ports: 9092), 2 requests, 3 responses" in said
    assert "1 responses to requests that are not in the capture" in said
    assert "10.0.0.1:40000 -> 10.0.0.9:9092: 59 lost bytes, 1 broken frames" in said
    assert main([*words, str(tmp_path / "two"), "--json", "--port", "9092"]) == 0
    assert json.loads(capsys.readouterr().out)["troubles"][0]["lost_bytes"] == 59
    assert main([*words, str(tmp_path / "three"), "--port", "9093"]) == 1
    assert "some.pcap` contains nothing in the format pcap" in capsys.readouterr().err


def test_problems_of_many_connections_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each capture lacks the beginning of its connection."""
    segments = [
        segment
        for port in range(40_000, 40_025)
        for segment in conversation(1, client=("10.0.0.1", port))[1:]
    ]
    path = tmp_path / "many.pcap"
    path.write_bytes(capture_of(segments).getvalue())
    words = ["trace", "import", "--input-format", "pcap", "--port", "9092", str(path)]
    assert main([*words, str(tmp_path / "one")]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert sum("it began before the capture" in line for line in lines) == 20
    assert lines[-1] == "and 5 more connections with problems"


def test_an_exported_capture_is_imported(
    trace: Path,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = str(tmp_path / "out.pcap")
    assert main(["trace", "export", str(trace), "--format", "pcap", "--out", file]) == 0
    again = str(tmp_path / "again")
    assert main(["trace", "import", "--input-format", "pcap", file, again, "--port", "9092"]) == 0
    assert "4 requests, 4 responses" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["import", "--input-format", "pcap", "{nonsense}", "{folder}"], "neither pcap nor pcapng"),
        (["import", "--input-format", "pcap", "{nonsense}", "{nonsense}"], "cannot record to"),
        (["import", "--input-format", "request-log", "{nonsense}", "{nonsense}"], "File exists"),
        (["export", "{trace}", "--out", "{nonsense}/x"], "/nonsense/x`: Not a directory"),
        (["export", "{trace}", "--format", "pcap", "--out", "/dev"], "`/dev`: Is a directory"),
        (["import", "--input-format", "pcap", "no-such-file", "{folder}"], "No such file"),
        (
            ["import", "--input-format=audit-log", "{nonsense}", "{folder}", "--port", "1"],
            "--port",
        ),
        (
            ["import", "--input-format=pcap", "{nonsense}", "{folder}", "--port", "70000"],
            "`70000`",
        ),
        (["export", "{trace}", "--format", "pcap"], "requires --out"),
    ],
)
def test_errors_are_reported(
    words: list[str],
    says: str,
    trace: Path,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "nonsense").write_text("nothing that was ever captured")
    places = {"nonsense": tmp_path / "nonsense", "folder": tmp_path / "folder", "trace": trace}
    assert main(["trace", *(word.format(**places) for word in words)]) == 2
    assert says in capsys.readouterr().err
    assert list(tmp_path.glob("folder/*")) == []
