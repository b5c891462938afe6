"""kafka-shim pipeline: messages without Spark, and output with it."""

import argparse
import io
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import ANY_USER
from kafka_shim.pipeline import cli
from kafka_shim.pipeline.acls.acl_set import read_distinct_acls_from_file
from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.pipeline.jobs.report import _jobs_of_report
from kafka_shim.pipeline.spark.progress import Progress, progress_bar
from kafka_shim.policy.formats import FORMATS, format_acls_losslessly
from kafka_shim.protocol.enums import Operation, ResourceType
from kafka_shim.text import extras
from tests.pipeline.traces import random_acls, random_trace
from tests.support.commands import SHIM

ROOT = Path(__file__).parents[2]


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    cli.add_arguments(parser)
    return parser.parse_args(words)


def shim(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*SHIM, "pipeline", *words],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
    )


def test_the_jobs_of_a_report_have_all_their_options() -> None:
    releases = ("--from-release", "3.9", "--to-release", "4.0")
    report = parsed("report", "TRACE", "--acls", "FILE", "--candidate", "FILE", *releases)
    given = {
        "unused-acls": ("--acls", "FILE"),
        "what-breaks": ("--acls", "FILE"),
        "readiness": releases,
    }
    parts = _jobs_of_report(report, "1 minute")
    assert given.keys() < {part.job for part in parts}
    before_jobs = {"bootstrap_server", "command_config"}  # ACLs are read before a job runs
    for part in parts:
        alone = parsed(part.job, "TRACE", *given.get(part.job, ()))
        assert vars(alone).keys() - vars(part).keys() <= before_jobs, part.job


def test_without_java_one_line_reports_it(tmp_path: Path) -> None:
    done = shim("denials", str(tmp_path), "--engine", "spark", JAVA_HOME=str(tmp_path))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        f"kafka-shim pipeline denials: JAVA_HOME is `{tmp_path}`, which has no bin/java\n"
    )
    done = shim("denials", str(tmp_path), "--engine", "spark", JAVA_HOME="", PATH=str(tmp_path))
    assert done.stderr.startswith("kafka-shim pipeline denials: Spark needs Java 17")
    assert done.stderr.count("\n") == 1


def test_an_unsuitable_java_is_reported(tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'this Java is too old' >&2\nexit 1\n")
    java.chmod(0o755)
    random_trace(tmp_path / "trace", random.Random(1), StandardAuthorizer(), 1)
    done = shim("denials", str(tmp_path / "trace"), "--engine", "spark", JAVA_HOME=str(tmp_path))
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    text, _, log = line.partition("; more in ")
    assert text == "kafka-shim pipeline denials: Spark did not start: this Java is too old"
    assert "this Java is too old" in Path(log).read_text()
    Path(log).unlink()


def test_without_the_extra_one_line_reports_it(
    monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    assert cli.run(parsed("denials", "x")) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(
        "kafka-shim pipeline denials: analysis of traces requires the extra `local`"
    )


def test_the_command_line_imports_neither_spark_nor_arrow() -> None:
    script = (
        "import sys, kafka_shim.pipeline.cli; from kafka_shim.cli import main\n"
        "try: main(['pipeline', '--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('pyspark', 'pyarrow', 'pandas') if m in sys.modules])"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_workers_in_other_folders_find_relative_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    here = str(tmp_path)
    assert parsed("denials", "a", "/b", "s3a://c").trace == [f"{here}/a", "/b", "s3a://c"]
    assert parsed("denials", "a", "--parquet", "b").parquet == f"{here}/b"
    assert parsed("ingest", "a", "-o", "b").out == f"{here}/b"
    assert parsed("diff", "a", "b").compared == f"{here}/b"


def test_acls_are_read_in_any_format(tmp_path: Path) -> None:
    acls = random_acls(random.Random(5), 40)
    path = tmp_path / "acls"
    said = [  # formats of commands cannot express these
        acl
        for acl in acls
        if acl.principal != ANY_USER
        and (acl.resource_type, acl.operation) != (ResourceType.GROUP, Operation.ALTER)
    ]
    assert len(said) > 20
    for form in FORMATS:
        path.write_text(format_acls_losslessly(said, form))
        assert set(read_distinct_acls_from_file(str(path))) == set(said), form


def test_a_file_without_acls_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "acls"
    path.write_text("- {principal: User:a, allow: Fly, topic: x}")
    with pytest.raises(PipelineError, match="Fly"):
        read_distinct_acls_from_file(str(path))
    with pytest.raises(PipelineError, match="none: No such file"):
        read_distinct_acls_from_file(str(tmp_path / "none"))


def test_an_invalid_number_is_reported_before_spark_starts() -> None:
    done = shim("least-acls", "trace", "--over-grant", "-1")
    assert done.returncode == 2
    assert done.stderr.startswith(
        "kafka-shim pipeline least-acls: --over-grant: invalid number `-1`"
    )


class Terminal(io.StringIO):
    """An output that is a terminal."""

    def isatty(self) -> bool:
        return True


class Tasks:
    """Stands for a Spark session that has completed 3 of 12 tasks."""

    def __init__(self) -> None:
        self.sparkContext = SimpleNamespace(statusTracker=lambda: self)

    def getActiveStageIds(self) -> list[int]:  # noqa: N802 - Spark's name
        return [1, 2, 3]

    def getStageInfo(self, stage: int) -> Any:  # noqa: N802 - Spark's name
        return None if stage == 3 else SimpleNamespace(numCompletedTasks=stage, numTasks=6)


def test_progress_is_shown_on_a_terminal_and_removed_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert progress_bar("starting Spark", 0, 0) == "starting Spark ..."
    for terminal, is_shown in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", terminal)
        with Progress("denials", Tasks()):  # type: ignore[arg-type]
            time.sleep(0.5)
        shown = terminal.getvalue()
        assert (f"denials [{'#' * 7}{'-' * 23}] 3/12 tasks" in shown) == is_shown
        assert shown.endswith("\r\x1b[K" if is_shown else "")
