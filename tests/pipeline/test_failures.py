"""Failures of Spark are reported in one line with advice; the rest goes to a file."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.pipeline import cli
from kafka_shim.pipeline.interrupts import delay_interrupts, raise_interrupts
from kafka_shim.pipeline.report.outcome import Outcome
from tests.pipeline.asking import parsed
from tests.support.checked_folders import PIPELINE

pytest.importorskip("pyspark")

TRACE = Path(__file__).parents[2] / "examples" / "trace"

IN_A_WORKER = """\
An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "worker.py", line 1, in main

  File "batches.py", line 70, in plan
{error}
 SQLSTATE: 38000
\tat org.apache.spark.sql.execution.Something(Something.scala:12)
"""
"""The error text of Spark 4.3, shortened."""
WORKERS = "the Python of Spark's workers, or set PYSPARK_PYTHON to one that has it"

OLD_PYTHON = """\
An error occurred while calling o69.load.
: org.apache.spark.SparkException:\x20
Error from python worker:
  Traceback (most recent call last):
    File "pyspark/__init__.py", line 129, in <module>
  {error}
PYTHONPATH was:
  pyspark.zip:py4j-0.10.9.9-src.zip
org.apache.spark.SparkException: EOFException occurred while reading the port number from \
pyspark.daemon's stdout.
"""
"""The same with workers in Python 3.9 or 3.6, which cannot import PySpark."""
OTHER_PYTHON = "PYSPARK_PYTHON has to name a Python {}.{} on the workers".format(*sys.version_info)

NO_PROGRAM = 'java.io.IOException: Cannot run program "/p": error=2, No such file or directory'
NO_MODULE = "ModuleNotFoundError: No module named 'importlib.resources'"
INSTALL = f"install kafka-shim into {WORKERS}"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            IN_A_WORKER.format(error="kafka_shim.pipeline.errors.PipelineError: no such trace"),
            "no such trace",
        ),
        (
            IN_A_WORKER.format(error="ImportError: No module named 'lz4.x'"),
            f"Spark failed: ImportError: No module named 'lz4.x' (install lz4 into {WORKERS})",
        ),
        (
            "Job aborted.\njava.lang.OutOfMemoryError: Java heap space",
            "Spark failed: Job aborted. (Java has too little memory; set SPARK_DRIVER_MEMORY=4g)",
        ),
        (
            "results (1.1 GiB) is bigger than spark.driver.maxResultSize (1024.0 MiB)",
            (
                "Spark failed: results (1.1 GiB) is bigger than spark.driver.maxResultSize"
                " (1024.0 MiB) (more different accesses than the limit; raise it: --conf"
                " spark.driver.maxResultSize=4g)"
            ),
        ),
        (
            IN_A_WORKER.format(error="ModuleNotFoundError: No module named 'kafka_shim'"),
            f"Spark failed: ModuleNotFoundError: No module named 'kafka_shim' ({INSTALL})",
        ),
        (
            NO_PROGRAM,
            f"Spark failed: {NO_PROGRAM} ({OTHER_PYTHON})",
        ),
        (
            OLD_PYTHON.format(error="TypeError: unsupported operand type(s)"),
            f"Spark failed: TypeError: unsupported operand type(s) ({OTHER_PYTHON})",
        ),
        (
            OLD_PYTHON.format(error=NO_MODULE),
            f"Spark failed: {NO_MODULE} ({OTHER_PYTHON})",
        ),
        ("something new\n\tat org.apache", "Spark failed: something new"),
        ("", "Spark failed: RuntimeError"),
    ],
)
def test_a_failure_is_one_line_with_what_to_do(text: str, line: str) -> None:
    from kafka_shim.pipeline.spark.failure_message import failure_line_with_advice

    assert failure_line_with_advice(RuntimeError(text)) == line


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ("WARNING: Using incubator modules: x\n\nno such option\n", "no such option"),
        (":: resolving\nEXCEPTION in main: not found\n\tat x\n", "EXCEPTION in main: not found"),
        ("", ""),
    ],
)
def test_the_reason_why_java_did_not_start_is_printed(printed: str, said: str) -> None:
    from kafka_shim.pipeline.spark.spark_log import TemporarySparkLog

    with TemporarySparkLog() as log:
        log.path.write_text(printed)
        assert log.first_error_line() == said
    assert not log.path.exists()


OLD_JAVA = """\
Error: LinkageError occurred while loading main class org.apache.spark.launcher.Main
\tjava.lang.UnsupportedClassVersionError: org/apache/spark/launcher/Main has been compiled by a \
more recent version of the Java Runtime (class file version 61.0), this version of the Java \
Runtime only recognizes class file versions up to 55.0
"""
"""What Spark 4.3 prints with Java 11; Java 8 has another first line."""


def old_java(home: Path) -> Path:
    """Make a JAVA_HOME whose `java` only prints that it is too old."""
    java = home / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{OLD_JAVA}END\nexit 1\n")
    java.chmod(0o755)
    return home


def test_an_old_java_is_named_in_one_line(tmp_path: Path) -> None:
    words = [sys.executable, "-P", "-m", "kafka_shim", "pipeline", "denials", str(TRACE)]
    words += ["--engine", "spark"]
    environment = os.environ | {"JAVA_HOME": str(old_java(tmp_path))}
    run = subprocess.run(words, check=False, env=environment, capture_output=True, text=True)
    (line,) = run.stderr.splitlines()
    log = line.rpartition(" ")[2]
    assert "UnsupportedClassVersionError" in Path(log).read_text()
    Path(log).unlink()
    assert run.returncode == 1
    assert line == (
        "kafka-shim pipeline denials: Spark did not start: Spark needs Java 17 or newer: install"
        f" it, or set JAVA_HOME; more in {log}"
    )


def test_a_session_of_one_s_own_names_java_if_it_does_not_start(tmp_path: Path) -> None:
    environment = os.environ | {"JAVA_HOME": str(old_java(tmp_path))}
    program = "from kafka_shim.pipeline.spark.session import spark_session; spark_session()"
    words = [sys.executable, "-P", "-c", program]
    run = subprocess.run(words, check=False, env=environment, capture_output=True, text=True)
    assert OLD_JAVA in run.stderr
    assert run.stderr.splitlines()[-1] == (
        "kafka_shim.pipeline.errors.PipelineError: Spark did not start, for the reason that Java"
        " printed; Spark needs Java 17 or newer: install it, or set JAVA_HOME"
    )


def is_java_running(session_id: int) -> bool:
    """Return whether a process of a session is Java."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            name, _, fields = stat.read_text().rpartition(") ")
            if name.endswith("(java") and int(fields.split()[3]) == session_id:
                return True
    return False


@PIPELINE
@pytest.mark.spark
@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are found in /proc")
def test_an_interrupt_while_java_starts_is_one_line_and_ends_java() -> None:
    words = [sys.executable, "-P", "-m", "kafka_shim", "pipeline", "denials", str(TRACE)]
    words += ["--engine", "spark"]
    child = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 60
    while not is_java_running(child.pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(child.pid, signal.SIGINT)
    printed = child.communicate(timeout=60)  # until Java, too, has ended
    assert printed == ("", "kafka-shim pipeline denials: interrupted\n")
    assert child.returncode == 130


def test_an_interrupt_is_raised_whatever_a_library_makes_of_it() -> None:
    ended: list[bool] = []

    def fail_in_library(*, interrupted: bool) -> None:
        with raise_interrupts(lambda: ended.append(True)):
            try:
                if interrupted:
                    signal.raise_signal(signal.SIGINT)
            finally:
                raise RuntimeError("Python exception: Traceback")

    with pytest.raises(RuntimeError):
        fail_in_library(interrupted=False)
    assert ended == []
    with pytest.raises(KeyboardInterrupt):
        fail_in_library(interrupted=True)
    assert ended == [True]


def test_a_delayed_interrupt_comes_after_the_block() -> None:
    done: list[bool] = []

    def work() -> None:
        with delay_interrupts():
            signal.raise_signal(signal.SIGINT)
            done.append(True)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == [True]


class Fails:
    """A job that fails `times` times with this error, and then succeeds."""

    def __init__(self, times: int, text: str) -> None:
        self.times, self.text, self.runs = times, text, 0

    def __call__(self, job: Any, *_: object) -> Outcome:
        from pyspark.errors import PySparkException

        self.runs += 1
        if self.runs <= self.times:
            raise PySparkException(self.text)
        return Outcome(job.args.job, [], [], [], {}, [f"{job.args.job} of {job.args.trace[0]}"])


LATE = "Job aborted: Python worker failed to connect back.\n\tat java.net.ServerSocket"


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    from kafka_shim.pipeline import option_checks

    monkeypatch.setattr(option_checks, "validated_reader_options", lambda *_: {})
    monkeypatch.setattr(
        "kafka_shim.pipeline.spark_requirements.missing_requirement", lambda **_: None
    )
    return "denials", "/trace", "--engine", "spark"


@pytest.mark.parametrize(
    ("fails", "code", "runs"),
    [
        (Fails(2, LATE), 0, 3),
        (Fails(9, LATE), 1, 3),
        (Fails(1, "no such file"), 1, 1),
    ],
    ids=["late at first", "always late", "another reason"],
)
def test_a_job_whose_python_worker_was_late_runs_again(
    fails: Fails,
    code: int,
    runs: int,
    words: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: Any,
) -> None:
    from kafka_shim.pipeline import job_runner

    monkeypatch.setattr(job_runner, "_run_in_spark", fails)
    assert (cli.run(parsed(*words)), fails.runs) == (code, runs)
    lines = capsys.readouterr().err.splitlines()
    if code:
        assert lines[-1].startswith(f"kafka-shim pipeline {words[0]}: Spark failed: ")
        path = Path(lines[-1].rpartition("; more in ")[2])
        assert path.read_text() == f"{fails.text}\n"
        path.unlink()
    assert lines[: runs - 1] == ["a Python worker was late; trying again"] * (runs - 1)


def test_jobs_of_one_command_are_run_in_turn_and_the_worst_exit_code_counts(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    from kafka_shim.pipeline import job_runner

    broken = Outcome("damage", [], [], [], {}, ["2 rows"], has_failing_findings=True)

    def outcome(job: Any, log: Any) -> Outcome:
        assert log.path.exists()
        return broken if job.args.job == "damage" else Fails(0, "")(job)

    monkeypatch.setattr(job_runner, "_run_in_spark", outcome)
    chained = parsed(
        *words, "--then", "damage", "/a", "--fail-on", "any", "--then", "clients", "/b"
    )
    assert cli.run(chained) == 3
    printed = capsys.readouterr()
    assert printed.err == ""
    expected = ["denials of /trace", "", "damage", "2 rows", "", "clients", "clients of /b"]
    assert printed.out.splitlines() == expected


def test_a_job_with_wrong_options_is_found_before_the_first_runs(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], capsys: Any
) -> None:
    from kafka_shim.pipeline import job_runner, option_checks
    from kafka_shim.pipeline.errors import PipelineError

    def options(args: Any, _: object) -> dict[str, str]:
        if args.job == "damage":
            raise PipelineError("no")
        return {}

    monkeypatch.setattr(option_checks, "validated_reader_options", options)
    ran = Fails(0, "")
    monkeypatch.setattr(job_runner, "_run_in_spark", ran)
    assert cli.run(parsed(*words, "--then", "damage", "/a")) == 2
    assert ran.runs == 0
    with pytest.raises(SystemExit):
        parsed(*words, "--then", "nothing", "/a")
    with pytest.raises(SystemExit):
        parsed(*words, "--then")
    assert re.search("nothing", capsys.readouterr().err)


def test_a_missing_trace_is_reported_before_spark_starts(capsys: Any) -> None:
    for job in (("watch",), ("ingest", "--follow", "-o", "/lake"), ("ingest", "-o", "/lake")):
        name, *options = job
        assert cli.run(parsed(name, "/no/such", *options)) == 2
        assert "the trace `/no/such` does not exist" in capsys.readouterr().err
