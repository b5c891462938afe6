"""An authorizer log in every form in which people keep it: the same decisions are read.

The lines are a real broker's, in its own layouts.
"""

import bz2
import gzip
import io
import json
import lzma
import tarfile
import tracemalloc
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import zstandard

from kafka_shim.cli import main
from kafka_shim.shim.errors import ConfigError
from kafka_shim.trace_format.entries import Access
from kafka_shim.trace_format.segments import Damage, read_trace
from kafka_shim.traces.importers.log_files import logs_in_file
from kafka_shim.traces.importers.log_import import AuthorizerLogImport, ImportReport
from tests.recordings.audit.layouts import RECORDED

KAFKA = (RECORDED / "kafka.txt").read_text()
LINES = KAFKA.splitlines()
UNREADABLE = {"no-date": "has no date", "no-time": "no date and time"}
LAYOUTS = sorted({path.stem for path in RECORDED.iterdir()} - {"zone-name", *UNREADABLE})


def imported(text: str, folder: Path, zone: str = "") -> tuple[ImportReport, list[Access]]:
    """Import a log that is one text; return the report and the accesses."""
    with closing(AuthorizerLogImport(folder, ZoneInfo(zone) if zone else None)) as importing:
        importing.import_lines(io.StringIO(text), "log")
    blocks = [block for block in read_trace(folder) if not isinstance(block, Damage)]
    entries = [entry for block in blocks for entry in block.body.entries]
    assert all(isinstance(entry, Access) for entry in entries)
    return importing.report, [entry for entry in entries if isinstance(entry, Access)]


def decisions(accesses: list[Access]) -> list[tuple[object, ...]]:
    return [
        (
            *(access.api_key, access.operation, access.resource_type, access.resource_name),
            *(access.allowed, access.rule, access.count),
        )
        for access in accesses
    ]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[Access]:
    report, accesses = imported(KAFKA, tmp_path_factory.mktemp("expected"))
    assert (report.unread, len(accesses)) == (0, len(LINES))
    assert {access.resource_name for access in accesses} == {
        *("audited", "a:b c", "tx", "kafka-cluster")
    }
    return accesses


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_is_read(name: str, expected: list[Access], tmp_path: Path) -> None:
    report, accesses = imported((RECORDED / f"{name}.txt").read_text(), tmp_path)
    assert report.examples == []
    assert decisions(accesses) == decisions(expected)
    for access, other in zip(accesses, expected, strict=True):
        assert abs(access.time_us - other.time_us) < 1_000_000


@pytest.mark.parametrize("name", UNREADABLE)
def test_without_a_date_nothing_is_read(name: str, tmp_path: Path) -> None:
    report, accesses = imported((RECORDED / f"{name}.txt").read_text(), tmp_path)
    assert (report.unread, accesses) == (len(LINES), [])
    assert UNREADABLE[name] in report.examples[0].reason
    assert len(report.examples) == 3


def test_the_abbreviation_of_a_zone_needs_the_option(
    expected: list[Access], tmp_path: Path
) -> None:
    text = (RECORDED / "zone-name.txt").read_text()
    report, accesses = imported(text, tmp_path / "refused")
    assert accesses == []
    assert "time zone, CET, is ambiguous" in report.examples[0].reason
    _, accesses = imported(text, tmp_path / "read", "Europe/Berlin")
    assert [access.time_us for access in accesses] == [access.time_us for access in expected]


@pytest.mark.parametrize(
    ("time", "utc"),
    [
        ("31 Jan 2026 10:00:00", "2026-01-31T10:00:00"),
        ("31/Jan/2026:10:00:00 +0100", "2026-01-31T09:00:00"),
        ("31.01.2026 10:00:00,250", "2026-01-31T10:00:00.250"),
        ("Sat Jan 31 10:00:00 UTC 2026", "2026-01-31T10:00:00"),
        ("Sat Jan 31 10:00:00 2026", "2026-01-31T10:00:00"),
        ("Jan 31, 2026 03:00:00 PM", "2026-01-31T15:00:00"),
        ("1769853600", "2026-01-31T10:00:00"),
        ("[1769853600123]", "2026-01-31T10:00:00.123"),
        ("2026-01-31 10:00:00 Europe/Berlin", "2026-01-31T09:00:00"),
        ("2026-01-31 10:00:00 America/Argentina/Buenos_Aires", "2026-01-31T13:00:00"),
        ("2026-01-31 10:00:00 GMT+1", "2026-01-31T09:00:00"),
        ("2026-01-31 10:00:00 GMT-9:30", "2026-01-31T19:30:00"),
        ("2026-01-31 10:00:00 UTC+01:00", "2026-01-31T09:00:00"),
        ("2026-01-31 10:00:00 +0530", "2026-01-31T04:30:00"),
        ("2026-01-31 10:00:00 Europe/Nowhere", None),
        ("Sat Jan 31 10:00:00 CET 2026", None),
        ("31/01/2026 10:00:00", None),
        ("Jan 31 10:00:00", None),
        ("2026-13-31 10:00:00", None),
        ("12345", None),
    ],
)
def test_a_time_is_read_or_refused(time: str, utc: str | None, tmp_path: Path) -> None:
    text = f"{time} INFO {LINES[0].partition('INFO ')[2]}\n"
    report, accesses = imported(text, tmp_path)
    if utc is None:
        assert (accesses, report.unread) == ([], 1)
    else:
        (access,) = accesses
        assert access.time_us == datetime.fromisoformat(f"{utc}Z").timestamp() * 1e6


def docker(line: str, at: str) -> str:
    return json.dumps({"log": f"{line}\n", "stream": "stdout", "time": f"{at}Z"})


def cloudwatch(line: str, at: str) -> str:
    event = {"id": "1", "timestamp": int(datetime.fromisoformat(f"{at}Z").timestamp() * 1e3)}
    other = event | {"message": "[2026-01-31 10:00:00,250] INFO started (kafka.server.Kafka)"}
    return json.dumps({"owner": "1", "logEvents": [other, event | {"message": line}]})


def test_several_objects_in_a_line_are_all_read(expected: list[Access], tmp_path: Path) -> None:
    text = "".join(cloudwatch(line, "2026-02-01T12:30:00") for line in LINES)
    report, accesses = imported(text, tmp_path)
    assert (report.lines, report.unread) == (1, 0)
    assert decisions(accesses) == decisions(expected)


OLD = "[2020-01-31 10:00:00,250] INFO Principal = User:a is Denied Operation = Read from host = ::1"
OLD_LINE = f"{OLD} on resource = Topic:orders (kafka.authorizer.logger)\n"
REQUEST_LINE = f"{OLD} on resource = Topic:orders for request = Fetch with resourceRefCount = 1\n"
TORN = OLD_LINE[: OLD_LINE.index("orders") + 3]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (OLD_LINE + TORN, 1),
        (TORN + OLD_LINE, 0),
        (f"{TORN}\n{OLD_LINE}", 1),
        (f"{TORN}\n{REQUEST_LINE}", 1),
        (OLD_LINE + TORN + "\n", 1),
        (f"{REQUEST_LINE}{TORN}\n", 1),
        (TORN, 0),
        (OLD_LINE + OLD_LINE[40:], 1),
        ("".join(f"{line}\n" for line in LINES[:1]) + LINES[0][:200], 1),
        (docker(LINES[0], "2026-02-01T12:30:00")[:150], 0),
    ],
)
def test_a_torn_line_is_not_read(text: str, read: int, tmp_path: Path) -> None:
    report, accesses = imported(text, tmp_path)
    assert (len(accesses), report.unread) == (read, 1)


STARTED = "[2026-01-31 10:00:00,000] INFO [GroupCoordinator 1]: started (kafka.coordinator.Group)"
WITHOUT_REQUEST = (RECORDED.parent / "recorded" / "2.3.1.txt").read_text()
JSON_WITHOUT_REQUEST = "".join(
    json.dumps({"message": line[line.index("Principal") :][:-26], "@timestamp": line[1:24]}) + "\n"
    for line in WITHOUT_REQUEST.splitlines()
)


@pytest.mark.parametrize(
    "log",
    [
        *(WITHOUT_REQUEST, JSON_WITHOUT_REQUEST, KAFKA, (RECORDED / "ecs.txt").read_text()),
        (RECORDED.parent / "recorded" / "2.8.2.txt").read_text(),
        WITHOUT_REQUEST.replace("logger)\n", "logger) [data-plane-kafka-request-handler-3]\n"),
    ],
    ids=["2.3.1", "2.3.1-json", "4.4.0", "4.4.0-ecs", "2.8.2", "2.3.1-strimzi"],
)
def test_a_line_cut_anywhere_makes_no_decision(log: str, tmp_path: Path) -> None:
    """A line of `log` is cut, and then the line ends, another one follows, or the log begins."""
    whole = imported(log, tmp_path / "whole")[1]
    assert len(whole) >= 4
    lines = log.splitlines(keepends=True)
    for number in range(3):
        line, before, after = lines[number], lines[:number], lines[number + 1 :]
        for cut in range(line.index("Principal"), len(line) - 1, 6):
            cut_line = line[:cut]
            for position, changed in enumerate(
                (
                    [*before, f"{cut_line}\n", *after],
                    [*before, cut_line, *after],
                    [*before, f"{cut_line}{STARTED}\n", *after],
                    [*before, line[cut:], *after],
                    [f"{cut_line}\n", *lines],
                    [f"{cut_line}{STARTED}\n", *lines],
                    [*lines, cut_line],
                )
            ):
                folder = tmp_path / f"{number}-{cut}-{position}"
                report, accesses = imported("".join(changed), folder)
                assert set(decisions(accesses)) <= set(decisions(whole)), "".join(changed)
                assert report.unread or len(accesses) >= len(whole) - 1


def test_a_name_that_looks_like_a_layout_does_not_hide_the_others(tmp_path: Path) -> None:
    bare = OLD_LINE.removesuffix(" (kafka.authorizer.logger)\n") + "\n"
    report, accesses = imported(bare * 3 + bare.replace("Topic:orders", "Group:b (c)"), tmp_path)
    assert (len(accesses), report.unread) == (3, 1)


def test_a_rotated_file_after_a_newer_one_keeps_its_times(tmp_path: Path) -> None:
    newer, older = OLD_LINE.replace("2020", "2021"), OLD_LINE
    _, accesses = imported(newer + older, tmp_path)
    years = [datetime.fromtimestamp(access.time_us / 1e6, UTC).year for access in accesses]
    assert years == [2021, 2020]


def confluent(**changes: Any) -> str:
    decision: dict[str, Any] = {
        "granted": True,
        "operation": "Create",
        "resourceType": "Topic",
        "resourceName": "departures",
        "patternType": "LITERAL",
        "superUserAuthorization": True,
    }
    data = {
        "serviceName": "crn://confluent.cloud/kafka=lkc-a1b2c",
        "methodName": "kafka.CreateTopics",
        "authenticationInfo": {"principal": "User:123456"},
        "authorizationInfo": decision | changes.pop("decision", {}),
        "clientAddress": [{"ip": "10.0.0.1"}],
    }
    event = {
        "specversion": "1.0",
        "type": "io.confluent.kafka.server/authorization",
        "time": "2021-01-01T12:34:56.789Z",
        "data": data | changes.pop("data", {}),
    }
    return json.dumps(event | changes)


def test_audit_events_of_confluent_are_read(tmp_path: Path) -> None:
    report, (access,) = imported(confluent(), tmp_path)
    assert report.unread == 0
    assert (access.resource_name, access.rule, access.allowed) == ("departures", "SuperUser", True)
    assert access.time_us == 1_609_504_496_789_000


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (confluent(decision={"rbacAuthorization": {"role": "Operator"}}), "role binding (RBAC)"),
        (confluent(data={"clientAddress": []}), "without the client's address"),
        (confluent(decision={"resourceType": "Environment"}), "unknown resource type"),
        (confluent(data={"authenticationInfo": {}}), "without an expected field: KeyError"),
    ],
)
def test_audit_events_without_an_acls_decision_are_not_read(
    event: str, reason: str, tmp_path: Path
) -> None:
    report, accesses = imported(event, tmp_path)
    assert (accesses, report.unread) == ([], 1)
    assert reason in report.examples[0].reason


def test_other_audit_events_of_confluent_are_passed_over(tmp_path: Path) -> None:
    events = (
        confluent(type="io.confluent.kafka.server/authentication"),
        confluent(data={"methodName": "mds.Authorize"}),
    )
    report, accesses = imported("\n".join(events), tmp_path)
    assert (accesses, report.unread, report.lines) == ([], 0, 2)


def tar_gz(name: str, log: bytes) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for path, content in ((name, log), ("x", b"\0")):
            member = tarfile.TarInfo(path)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return file.getvalue()


PACKED = {
    "plain": str.encode,
    "gzip": lambda text: gzip.compress(text.encode()),
    "zstd": lambda text: zstandard.compress(text.encode()),
    "tar-gz": lambda text: tar_gz("logs/a.log", text.encode()),
    "tar-gz-gz": lambda text: tar_gz("logs/a.log.gz", gzip.compress(text.encode())),
    "utf-16": lambda text: text.encode("utf-16"),
}


@pytest.mark.parametrize("form", PACKED)
@pytest.mark.parametrize("is_folder", [False, True])
def test_packed_logs_and_folders_are_read(
    form: str, is_folder: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "logs" / "kafka-authorizer.log"
    log.parent.mkdir()
    log.write_bytes(PACKED[form](KAFKA))
    source = log.parent if is_folder else log
    if is_folder:
        (log.parent / "index.bin").write_bytes(b"\0\1\2")
    words = ["trace", "import", "--input-format", "audit-log", str(source), str(tmp_path / "trace")]
    assert main([*words, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["entries"], report["unread"]) == (len(LINES), 0)
    assert len(report["skipped"]) == is_folder + form.startswith("tar-gz")


@pytest.mark.parametrize(
    "compress",
    [gzip.compress, zstandard.compress, lzma.compress, bz2.compress],
    ids=["gzip", "zstd", "xz", "bzip2"],
)
@pytest.mark.parametrize("is_cut", [True, False])
def test_a_damaged_log_is_an_error_with_its_name(
    compress: Callable[[bytes], bytes],
    is_cut: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    times = (
        f"[2020-01-31 10:{n // 60 % 60:02}:{n % 60:02},{n * 7 % 997:03}]" for n in range(9_000)
    )
    content = compress("".join(f"{time}{OLD_LINE[25:]}" for time in times).encode())
    half = len(content) // 2
    log = tmp_path / "log"
    log.write_bytes(content[:half] if is_cut else content[:half] + bytes(64) + content[half + 64 :])
    words = ["trace", "import", "--input-format", "audit-log", str(log), str(tmp_path / "trace")]
    assert main(words) == 2
    assert f"`{log}` is damaged: " in capsys.readouterr().err
    assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize("kept", [1024, 1024 + 300, 2048 - 100, 2048], ids=str)
@pytest.mark.parametrize("has_other_bytes", [True, False])
def test_an_archive_that_is_cut_off_or_damaged_is_an_error(
    kept: int, has_other_bytes: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each of two members is a header and one block; behind them, an archive has empty blocks."""
    content = gzip.decompress(tar_gz("a.log", OLD_LINE.encode()))
    log = tmp_path / "logs.tar"
    log.write_bytes(content[:kept] + b"?" * 512 * has_other_bytes)
    words = ["trace", "import", "--input-format", "audit-log", str(log), str(tmp_path / "trace")]
    assert main(words) == 2
    assert f"`{log}` is damaged: " in capsys.readouterr().err


def test_zstd_frames_one_after_the_other_are_all_read(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"".join(zstandard.compress(f"{line}\n".encode()) for line in LINES))
    words = ["trace", "import", "--input-format", "audit-log", str(log), str(tmp_path / "trace")]
    assert main(words) == 0
    blocks = [block for block in read_trace(tmp_path / "trace") if not isinstance(block, Damage)]
    assert sum(len(block.body.entries) for block in blocks) == len(LINES)


def test_of_several_logs_the_earliest_is_read_first(tmp_path: Path) -> None:
    for name, year in (("kafka.log", "2022"), ("kafka.log.1", "2021"), ("kafka.log.2", "2020")):
        (tmp_path / name).write_text(OLD_LINE.replace("2020", year))
    sources = [str(tmp_path / name) for name in ("kafka.log", "kafka.log.1", "kafka.log.2")]
    trace = tmp_path / "trace"
    assert main(["trace", "import", "--input-format", "audit-log", *sources, str(trace)]) == 0
    blocks = [block for block in read_trace(trace) if not isinstance(block, Damage)]
    times = [entry.time_us for block in blocks for entry in block.body.entries]
    assert times == sorted(times)
    assert len(times) == 3


def test_an_import_into_a_trace_says_that_it_adds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, trace = tmp_path / "log", tmp_path / "trace"
    log.write_text(OLD_LINE)
    words = ["trace", "import", "--input-format", "audit-log", str(log), str(trace)]
    assert main(words) == 0
    assert "adds to it" not in capsys.readouterr().err
    assert main(words) == 0
    assert f"`{trace}` is a trace already; this import adds to it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("limit", "code"), [(None, 3), ("33.3", 3), ("33.4", 0), ("101", 2), ("x", 2)]
)
def test_too_many_unread_entries_have_exit_code_3(
    limit: str | None, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, trace = tmp_path / "log", tmp_path / "trace"
    log.write_text(OLD_LINE * 2 + TORN)
    words = ["trace", "import", "--input-format", "audit-log", str(log), str(trace)]
    words += [] if limit is None else ["--max-unread", limit]
    if code == 2:
        with pytest.raises(SystemExit):
            main(words)
        assert "expected a percentage from 0 to 100" in capsys.readouterr().err
    else:
        assert main(words) == code
        text = capsys.readouterr().err
        assert "2 entries, 1 entries not read" in text
        assert f"{log}: line 3: the line may be cut off in `ord`\n    [2020-01-31" in text
        assert trace.exists()  # the trace is kept, although it is incomplete


def test_the_zone_of_times_is_an_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log"
    log.write_text(OLD_LINE)
    words = ["trace", "import", "--input-format", "audit-log", str(log)]
    for zone, name in (("Europe/Berlin", "a"), ("+01:00", "b")):
        assert main([*words, str(tmp_path / name), "--time-zone", zone]) == 0
        (block,) = read_trace(tmp_path / name)
        assert not isinstance(block, Damage)
        moment = datetime(2020, 1, 31, 9, tzinfo=UTC).timestamp()
        assert block.body.entries[0].time_us == moment * 1e6 + 250_000
    with pytest.raises(SystemExit):
        main([*words, str(tmp_path / "c"), "--time-zone", "Mars"])
    assert "unknown time zone `Mars`" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["trace", "info"], ["pipeline", "denials"]])
@pytest.mark.parametrize("is_folder", [False, True])
@pytest.mark.parametrize("text", [OLD_LINE, '{"requestHeader": {}}'])
def test_a_log_given_as_a_trace_names_the_import(
    command: list[str],
    is_folder: bool,
    text: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = tmp_path / "kafka.log"
    log.write_text(text)
    source = log.parent if is_folder else log
    assert main([*command, str(source)]) == 2
    form = "audit-log" if text == OLD_LINE else "request-log"
    assert (
        f"`kafka-shim trace import --input-format {form} {source} TRACE`" in capsys.readouterr().err
    )


DENIED_NOTE = "all entries are denials, as at Kafka's default level INFO: `kafka-shim pipeline "


@pytest.mark.parametrize(
    ("text", "is_noted"),
    [
        (OLD_LINE, True),
        (OLD_LINE * 3, True),
        (OLD_LINE + OLD_LINE.replace("Denied", "Allowed"), False),
        (OLD_LINE.replace("Denied", "Allowed"), False),
        (KAFKA, False),
    ],
)
def test_a_log_of_denials_only_is_noted(
    text: str, is_noted: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, trace = tmp_path / "log", tmp_path / "trace"
    log.write_text(text)
    assert main(["trace", "import", "--input-format", "audit-log", str(log), str(trace)]) == 0
    assert (DENIED_NOTE in capsys.readouterr().err) == is_noted


@pytest.mark.parametrize("form", PACKED)
@pytest.mark.parametrize("before", ["", OLD_LINE])
def test_a_line_without_an_end_is_rejected(
    form: str,
    before: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kafka_shim.traces.importers.log_files.LINE_CHARACTERS_MAX", 1 << 20)
    log, trace = tmp_path / "log", tmp_path / "trace"
    log.write_bytes(PACKED[form](before + "x" * (1 << 20)))
    words = ["trace", "import", "--input-format", "audit-log", str(log), str(trace)]
    assert main(words) == (0 if before else 1)
    log.write_bytes(PACKED[form](before + "x" * (1 << 21)))
    assert main(words) == 2
    assert f"line {2 if before else 1} has more than 1 MiB" in capsys.readouterr().err


def test_the_memory_of_a_line_without_an_end_is_limited(tmp_path: Path) -> None:
    """A gzip of 300 MB in one line is rejected with less than a quarter of that in memory."""
    path = tmp_path / "log.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(300):
            file.write(b"x" * 1_000_000)
    logs = logs_in_file(path, [], is_named_by_user=True)
    tracemalloc.start()
    try:
        with pytest.raises(ConfigError, match="line 1 has more than 16 MiB"):
            next(chain.from_iterable(source.lines for source in logs))
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 75_000_000
