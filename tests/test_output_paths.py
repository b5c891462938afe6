"""No option of any command removes or replaces what kafka-shim did not write."""

import argparse
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shim.cli import COMMANDS, build_command_line_parser, main
from kafka_shim.pipeline.jobs import JOBS
from kafka_shim.text.output_paths import (
    MARKER,
    ForeignContentError,
    check_output_file,
    claim_folder,
    remove_own_files,
)
from tests.pipeline.traces import made
from tests.support.commands import SHIM, environment

FOREIGN = "three years of notes\n"
PATH_WORDS = ("FILE", "FOLDER", "DIR", "PATH", "LAKE", "TRACE", "SOURCE", "BEFORE", "AFTER")
READ = {
    *("--config", "--state", "--acls", "--playback", "--upstream-config", "--command-config"),
    *("--a-command-config", "--b-command-config", "--used-by", "--a", "--b", "--root", "--mask"),
    *("--tls-config", "--baseline", "--from-log", "--against", "--topics", "--candidate"),
    *("files", "trace", "sources", "compared", "resource"),
}
"""Options that name what a command reads."""
WRITTEN = {
    *("--parquet", "--pull-request", "--output", "--html", "--history", "--checkpoint"),
    *("--record", "--data-dir", "--tls-dir", "--ready-file", "--out", "--plan"),
}
"""Options that name what a command writes; each has a test below."""
NAMED_FILES = {
    *("--certificate", "--junit", "--playback-report", "--conformance"),
}
"""Options that name one file of results, which the next run replaces."""


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
    assert names == READ | WRITTEN | NAMED_FILES


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return made(tmp_path / "trace")


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """Return a folder with files of somebody else, one of them named like our output."""
    folder = tmp_path / "keep"
    (folder / "_staged").mkdir(parents=True)
    for name in ("notes.txt", "acls.yaml", "part-0.parquet", "_staged/more.txt"):
        (folder / name).write_text(FOREIGN)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("job", [job for job in JOBS if job not in ("ingest", "watch")])
def test_no_job_writes_its_rows_into_a_foreign_folder(
    job: str, trace: Path, foreign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    acls = foreign.parent / "acls.yaml"
    acls.write_text("- {principal: User:a, allow: Read, topic: orders}")
    before = contents(foreign)
    needs_acls = job in ("what-breaks", "unused-acls", "findings")
    words = ["--acls", str(acls)] if needs_acls else [str(trace)] if job == "diff" else []
    if job == "readiness":
        words = ["--from-release", "3.9", "--to-release", "4.0"]
    assert main(["pipeline", job, str(trace), *words, "--parquet", str(foreign)]) == 2
    refusal = "do not work" if job == "report" else "notes.txt"  # a report is no table
    assert refusal in capsys.readouterr().err
    assert contents(foreign) == before


@pytest.mark.parametrize(
    "option", ["--pull-request", "--output", "--html", "--history", "--checkpoint"]
)
def test_other_outputs_of_jobs_leave_foreign_content_alone(
    option: str, trace: Path, foreign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(foreign)
    acls = foreign.parent / "acls.yaml"
    acls.write_text("- {principal: User:a, allow: Read, topic: orders}")
    history = ["--acls", str(acls), "--history", str(foreign.parent / "history.json")]
    words = {
        "--pull-request": ["findings", str(trace), *history, option, str(foreign)],
        "--checkpoint": ["watch", str(trace), option, str(foreign)],
        "--output": ["ingest", str(trace), option, str(foreign)],
        "--html": ["denials", str(trace), option, str(foreign / "notes.txt")],
        "--history": ["findings", str(trace), *history[:3], str(foreign / "notes.txt")],
    }
    assert main(["pipeline", *words[option]]) in (1, 2)
    assert "kafka-shim pipeline" in capsys.readouterr().err
    assert contents(foreign) == before


@pytest.mark.parametrize("option", ["--record", "--data-dir", "--tls-dir", "--ready-file"])
def test_a_broker_leaves_foreign_content_alone(option: str, foreign: Path) -> None:
    before = contents(foreign)
    target = foreign / "notes.txt" if option == "--ready-file" else foreign
    tls = ["--listener", "SSL://127.0.0.1:0"] if option == "--tls-dir" else []
    listener = tls or ["--listener", "PLAINTEXT://127.0.0.1:0"]
    command = [*SHIM, "serve", *listener, option, str(target)]
    with subprocess.Popen(command, env=environment(), stdout=-1, stderr=-1, text=True) as broker:
        assert broker.stdout is not None
        ready = any("listening on" in line for line in iter(broker.stdout.readline, ""))
        if ready:
            time.sleep(0.2)
            broker.send_signal(signal.SIGTERM)
        broker.wait(30)
    assert ready == (option != "--ready-file")
    after = contents(foreign)
    assert {name: after.get(name) for name in before} == before


@pytest.mark.parametrize("verb", ["plan", "compact"])
def test_a_saved_plan_replaces_only_a_plan(verb: str, foreign: Path) -> None:
    before = contents(foreign)
    acls = foreign.parent / "acls.yaml"
    acls.write_text("- {principal: User:a, allow: Read, topic: orders}")
    words = {"plan": [str(acls), str(acls), "--out"], "compact": [str(acls), "--plan"]}[verb]
    assert main(["policy", verb, *words, str(foreign / "notes.txt")]) == 2
    assert contents(foreign) == before
    assert main(["policy", verb, *words, str(foreign / "plan.json")]) == 0
    assert main(["policy", verb, *words, str(foreign / "plan.json")]) == 0


def test_a_failed_import_removes_only_its_own_segments(foreign: Path) -> None:
    before = contents(foreign)
    log = foreign.parent / "empty.log"
    log.write_text("nothing of an authorizer\n")
    assert main(["trace", "import", "--input-format", "audit-log", str(log), str(foreign)]) == 1
    assert contents(foreign) == before


def test_a_folder_is_ours_only_with_the_mark_of_the_same_kind(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    claim_folder(folder, "parquet", ("part-*",))
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
