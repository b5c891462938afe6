"""No option of any command removes or replaces what kafka-shim did not write."""

import argparse
import signal
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shim.cli import COMMANDS, build_command_line_parser, main
from kafka_shim.cli.conformance import write_scorecard
from kafka_shim.cli.conformance_report import OUTPUTS
from kafka_shim.conformance.scorecard.scorecard import scorecard_start_pattern
from kafka_shim.pipeline.jobs import JOBS
from kafka_shim.text.output_paths import (
    MARKER,
    ForeignContentError,
    check_output_file,
    mark_output_folder,
    remove_own_files,
)
from tests.docs.shown import ROOT
from tests.pipeline.traces import made
from tests.support.commands import SHIM, environment

FOREIGN = "three years of notes\n"
RECORDED = ROOT / "examples/trace"
CONTENTS = {
    "ACLS": "- {principal: User:a, allow: Read, topic: orders}",
    "TESTS": "acls: ACLS\nexpect:\n- {principal: User:a, may: Read, topic: orders}\n",
}
PATH_WORDS = ("FILE", "FOLDER", "DIR", "PATH", "LAKE", "TRACE", "SOURCE", "BEFORE", "AFTER")
READ = {
    *("--config", "--state", "--acls", "--playback", "--upstream-config", "--target-config"),
    *("--command-config", "--a-command-config", "--b-command-config", "--used-by", "--root"),
    *("--mask", "--tls-config", "--baseline", "--from-log", "--against", "--topics", "--candidate"),
    *("files", "trace", "sources", "compared", "resource"),
}
"""Options that name what a command reads."""
JOB = ["--acls", "ACLS", "--history", "HISTORY"]
REFUSED = {
    "--pull-request": [["pipeline", "findings", "TRACE", *JOB, "--pull-request", "FOLDER"]],
    "--checkpoint": [["pipeline", "watch", "TRACE", "--checkpoint", "FOLDER"]],
    "--history": [["pipeline", "findings", "TRACE", "--acls", "ACLS", "--history", "NOTES"]],
    "--plan": [["policy", "compact", "ACLS", "--plan", each] for each in ("NOTES", "FOLDER")],
    "--junit": [["policy", "test", "TESTS", "--junit", each] for each in ("NOTES", "FOLDER")],
    "--out": [
        *(["policy", "plan", "ACLS", "ACLS", "--out", each] for each in ("NOTES", "FOLDER")),
        ["pipeline", "ingest", "TRACE", "--out", "FOLDER"],
        *(["trace", "export", "TRACE", "--out", each] for each in ("NOTES", "FOLDER")),
        ["trace", "export", "TRACE", "--format", "pcap", "--out", "NOTES"],
        ["trace", "export", "TRACE", "--format", "pcap", "--out", "CAPTURE"],
    ],
    "--html": [
        ["pipeline", "denials", "TRACE", "--html", each] for each in ("NOTES", "FOLDER", "PAGE")
    ],
    "--parquet": [
        ["pipeline", job, "TRACE", *words, "--parquet", "FOLDER"]
        for job in JOBS
        if job not in ("ingest", "watch", "report")
        for words in [
            ["--acls", "ACLS"]
            if job in ("what-breaks", "unused-acls", "findings")
            else ["TRACE"]
            if job == "diff"
            else ["--from-release", "3.9", "--to-release", "4.0"]
            if job == "readiness"
            else []
        ]
    ],
}
"""Command lines that would write over foreign content, by the option that names it."""
SERVED = {
    "--ready-file": ["NOTES", "FOLDER"],
    "--playback-report": ["NOTES", "FOLDER", "notes.html"],
    "--conformance": [f"{form}:{at}" for form in OUTPUTS for at in ("NOTES", "FOLDER")],
}
"""Values with which a broker does not start, by option."""
BESIDE = ("--record", "--data-dir", "--tls-dir")
"""Options of a broker with which it writes next to foreign content."""


def path_options(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    """Yield the program and the longest name of each argument that names a path."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from path_options(command)
            continue
        kind = getattr(action.type, "__name__", "")
        if "ath" in kind or any(word in str(action.metavar or "") for word in PATH_WORDS):
            yield parser.prog, max(action.option_strings, default=action.dest, key=len)


def test_each_option_that_names_a_path_is_known_as_read_or_written() -> None:
    options = set(path_options(build_command_line_parser(COMMANDS, COMMANDS)))
    names = {name for _, name in options}
    assert names == READ | {*REFUSED, *SERVED, *BESIDE}


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return made(tmp_path / "trace")


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """Return a folder with files of somebody else, one of them named like our output."""
    folder = tmp_path / "keep"
    (folder / "_staged").mkdir(parents=True)
    for name in ("notes.txt", "notes.html", "acls.yaml", "part-0.parquet", "_staged/more.txt"):
        (folder / name).write_text(FOREIGN)
    (folder / "page.html").write_text("<!DOCTYPE html><title>my notes on kafka-shim pipeline")
    raw_of_tcpdump = struct.pack("=IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 101)
    (folder / "tcpdump.pcap").write_bytes(raw_of_tcpdump)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def in_place(words: list[str], foreign: Path, trace: Path) -> list[str]:
    """Return a command line with paths for its words in capitals."""
    for name, content in CONTENTS.items():
        (foreign.parent / name).write_text(content)
    paths = {name: str(foreign.parent / name) for name in CONTENTS} | {
        "TRACE": str(trace),
        "HISTORY": str(foreign.parent / "history.json"),
        "FOLDER": str(foreign),
        "NOTES": str(foreign / "notes.txt"),
        "CAPTURE": str(foreign / "tcpdump.pcap"),
        "PAGE": str(foreign / "page.html"),
        "notes.html": str(foreign / "notes.html"),
    }
    forms = {f"{form}:{name}": f"{form}:{paths[name]}" for form in OUTPUTS for name in paths}
    return [(paths | forms).get(word, word) for word in words]


@pytest.mark.parametrize(
    ("option", "words"),
    [(option, words) for option, commands in REFUSED.items() for words in commands],
    ids=lambda value: "-".join(value[:2]) if isinstance(value, list) else value,
)
def test_no_command_writes_over_foreign_content(
    option: str, words: list[str], trace: Path, foreign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(foreign)
    command = in_place(words, foreign, trace)
    assert main(command) in (1, 2)
    assert command[command.index(option) + 1] in capsys.readouterr().err
    assert contents(foreign) == before


def run_broker(option: str, value: str, trace: Path) -> tuple[bool, str]:
    """Start a broker, and stop it once it serves; return whether it did, and its errors."""
    playback = ["--playback", str(trace)] if option == "--playback-report" else []
    protocol = "SSL" if option == "--tls-dir" else "PLAINTEXT"
    listener = ["--listener", f"{'SASL_PLAINTEXT' if playback else protocol}://127.0.0.1:0"]
    command = [*SHIM, "serve", *playback, *listener, option, value]
    with subprocess.Popen(command, env=environment(), stdout=-1, stderr=-1, text=True) as broker:
        assert broker.stdout is not None
        assert broker.stderr is not None
        ready = any("listening on" in line for line in iter(broker.stdout.readline, ""))
        if ready:
            time.sleep(0.2)
            broker.send_signal(signal.SIGTERM)
        errors = broker.stderr.read()
        broker.wait(30)
    return ready, errors


@pytest.mark.parametrize("option", BESIDE)
def test_a_broker_leaves_foreign_content_alone(option: str, foreign: Path, trace: Path) -> None:
    before = contents(foreign)
    ready, _ = run_broker(option, str(foreign), trace)
    assert ready
    after = contents(foreign)
    assert {name: after.get(name) for name in before} == before


@pytest.mark.parametrize(
    ("option", "value"), [(option, value) for option, values in SERVED.items() for value in values]
)
def test_a_broker_does_not_start_with_a_foreign_output_file(
    option: str, value: str, foreign: Path, trace: Path
) -> None:
    before = contents(foreign)
    (path,) = in_place([value], foreign, trace)
    ready, errors = run_broker(option, path, trace)
    assert not ready
    assert path.rpartition(":")[2] in errors
    assert "Is a directory" in errors or "no earlier output" in errors
    assert contents(foreign) == before


@pytest.mark.parametrize(
    "words",
    [
        ["policy", "plan", "ACLS", "ACLS", "--out", "NEW"],
        ["policy", "compact", "ACLS", "--plan", "NEW"],
        ["policy", "test", "TESTS", "--junit", "NEW"],
        ["trace", "export", "TRACE", "--out", "NEW"],
        ["trace", "export", "TRACE", "--format", "pcap", "--out", "NEW"],
        ["pipeline", "denials", "TRACE", "--html", "NEW"],
    ],
    ids=lambda words: "-".join(words[:2] + words[-3:-1]),
)
def test_a_command_replaces_its_own_output(words: list[str], trace: Path, foreign: Path) -> None:
    new = foreign / "new"
    command = [str(new) if word == "NEW" else word for word in in_place(words, foreign, trace)]
    assert main(command) == 0
    written = new.read_bytes()
    new.write_bytes(written + b"of an earlier run")
    assert main(command) == 0
    assert len(new.read_bytes()) == len(written)


@pytest.mark.parametrize("name", ["report.json", "report.html"])
def test_a_playback_replaces_its_own_report(name: str, trace: Path, tmp_path: Path) -> None:
    report = tmp_path / name
    for _ in range(2):
        ready, errors = run_broker("--playback-report", str(report), trace)
        assert ready, errors
        assert b"of an earlier run" not in report.read_bytes()
        report.write_bytes(report.read_bytes() + b"of an earlier run")


@pytest.mark.parametrize("form", OUTPUTS)
def test_a_scorecard_replaces_only_one_of_its_own_form(form: str, tmp_path: Path) -> None:
    file = tmp_path / "card"
    write_scorecard(RECORDED, form, "clients", file)
    check_output_file(file, scorecard_start_pattern(form, "clients"))
    for start in (
        scorecard_start_pattern(form, "my client"),
        scorecard_start_pattern(OUTPUTS[OUTPUTS.index(form) - 1], "clients"),
    ):
        with pytest.raises(ForeignContentError):
            check_output_file(file, start)


def test_a_failed_import_removes_only_its_own_segments(foreign: Path) -> None:
    before = contents(foreign)
    log = foreign.parent / "empty.log"
    log.write_text("nothing of an authorizer\n")
    assert main(["trace", "import", "--input-format", "audit-log", str(log), str(foreign)]) == 1
    assert contents(foreign) == before


def test_a_folder_is_ours_only_with_the_mark_of_the_same_kind(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    mark_output_folder(folder, "parquet", ("part-*",))
    (folder / "part-0").write_text("ours")
    remove_own_files(folder, "parquet", ("part-*",))
    assert [path.name for path in folder.iterdir()] == [MARKER]
    (folder / "part-0").write_text("ours")
    with pytest.raises(ForeignContentError, match="part-0"):
        remove_own_files(folder, "lake", ("*",))
    (folder / "notes").write_text(FOREIGN)
    with pytest.raises(ForeignContentError, match="contains notes, which"):
        remove_own_files(folder, "parquet", ("part-*",))
    assert {path.name for path in folder.iterdir()} == {MARKER, "notes", "part-0"}


def test_a_file_is_replaced_only_if_its_content_is_ours(tmp_path: Path) -> None:
    file = tmp_path / "page"
    check_output_file(file, "<page>")
    file.touch()
    check_output_file(file, "<page>")
    file.write_text("<page> of an earlier run")
    check_output_file(file, "<page>")
    file.write_text(FOREIGN)
    with pytest.raises(ForeignContentError, match="is no earlier output"):
        check_output_file(file, "<page>")
