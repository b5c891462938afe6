"""`kafka-shim trace import` and `export`: round trips."""

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.cli import main
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest
from kafka_shim.shim.observing.trace_recorder import TraceRecorder
from kafka_shim.traces.importers.log_import import AuthorizerLogImport
from tests.shim.play import Stage
from tests.support.acl_filters import ANY_ACL
from tests.traces.importers.test_authorizer_log import LATER, OLDEST, RULE


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    stage = Stage()
    recorder = TraceRecorder(tmp_path / "trace", stage.clock)
    stage.dispatcher.set_recorder(recorder)
    stage.allow("User:bob", Operation.DESCRIBE, ResourceType.CLUSTER, "kafka-cluster")
    topic = CreateTopicsRequest(topics=[CreatableTopic("t", 1, 1, [], [])], timeout_ms=1000)
    stage.ask(ApiKey.CREATE_TOPICS, 7, topic)
    stage.ask(ApiKey.METADATA, 12, MetadataRequest(topics=None), "User:bob")
    stage.clock.advance(10)
    for principal in ("User:alice", "User:bob"):
        stage.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL, principal)
    recorder.close()
    return tmp_path / "trace"


def exported(trace: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["trace", "export", str(trace)]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_exported_requests_have_kafkas_names(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = exported(trace, capsys)
    assert [row["requestHeader"]["requestApiKeyName"] for row in rows] == [
        "CREATE_TOPICS",
        "METADATA",
        "DESCRIBE_ACLS",
        "DESCRIBE_ACLS",
    ]
    assert rows[2]["response"]["errorCode"] == 31
    assert rows[2]["principal"] == "User:alice"
    assert rows[0]["request"]["topics"][0]["name"] == "t"


def test_an_exported_trace_imports_to_the_same_requests(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = exported(trace, capsys)
    log = tmp_path / "request.log"
    prefix, suffix = "[2024-05-01 10:00:00,250] DEBUG Completed request:", " (kafka.request.logger)"
    log.write_text("".join(f"{prefix}{json.dumps(row)}{suffix}\n" for row in rows))
    again = tmp_path / "again"
    assert main(["trace", "import", "--input-format", "request-log", str(log), str(again)]) == 0
    assert "4 lines, 8 entries, 0 entries not read" in capsys.readouterr().err
    kept = ("requestHeader", "request", "response", "principal", "listener", "clientInformation")
    found = exported(again, capsys)
    assert [{k: row[k] for k in kept} for row in found] == [
        {k: row[k] for k in kept} for row in rows
    ]
    assert {row["timeUs"] for row in found} == {1_714_557_600_250_000}


def test_lines_of_an_audit_log_are_imported_as_accesses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, folder = tmp_path / "kafka-authorizer.log", tmp_path / "trace"
    earlier = tmp_path / "kafka-authorizer.log.1"
    earlier.write_text(f"[2024-05-01 09:00:00,000] INFO {OLDEST}\n")
    log.write_text(f"something else\n{LATER}\n{RULE}")
    logs = [str(log), str(earlier)]
    assert main(["trace", "import", "--input-format", "audit-log", *logs, str(folder)]) == 0
    capsys.readouterr()
    assert main(["trace", "info", str(folder), "--json"]) == 0
    info = json.loads(capsys.readouterr().out)
    assert info["entries"] == {"access": 3}
    assert info["denials"] == {
        "User:CN=bob,O=x DESCRIBE TRANSACTIONAL_ID:tx": 2,
        "User:bob WRITE TOPIC:t": 1,
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"requestHeader": {"requestApiKey": 3}}', "line 1: not a line of the request log"),
        ('{"requestHeader": {"requestApiKey": 999', "line 1: "),
        ("nothing of the kind", "log` contains nothing in the format request-log"),
    ],
)
def test_unreadable_lines_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, says: str
) -> None:
    log = tmp_path / "log"
    log.write_text(text)
    words = ["trace", "import", "--input-format", "request-log", str(log), str(tmp_path / "t")]
    assert main(words) == 1
    assert says in capsys.readouterr().err
    assert main([*words[:4], str(tmp_path / "none"), str(tmp_path / "t")]) == 2


@pytest.mark.parametrize("is_there", [False, True])
def test_a_failed_import_leaves_no_files(tmp_path: Path, is_there: bool) -> None:
    log = tmp_path / "log"
    log.write_text("nothing of the kind")
    folder = tmp_path / "new" / "trace"
    kept = folder / "notes.txt"
    if is_there:
        folder.mkdir(parents=True)
        kept.write_text("mine")
    for form in ("audit-log", "request-log"):
        assert main(["trace", "import", "--input-format", form, str(log), str(folder)]) == 1
    assert list(tmp_path.rglob("*")) == [
        log,
        *([kept.parents[1], folder, kept] if is_there else []),
    ]


@pytest.mark.package_only
def test_an_interrupted_import_leaves_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The import is interrupted after entries were written."""

    def interrupted(importing: AuthorizerLogImport, *_: object) -> None:
        write(importing, *_)  # type: ignore[arg-type]
        importing._writer.flush()
        raise KeyboardInterrupt

    write = AuthorizerLogImport._write_access
    monkeypatch.setattr(AuthorizerLogImport, "_write_access", interrupted)
    folder = tmp_path / "new" / "trace"
    log = Path(__file__).parents[1] / "traces" / "importers" / "kafka_authorizer.txt"
    assert main(["trace", "import", "--input-format", "audit-log", str(log), str(folder)]) == 130
    assert list(tmp_path.rglob("*")) == []
