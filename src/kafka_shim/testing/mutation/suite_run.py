"""Runs of a test suite, each in its own folder, with mutants or without."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec

from kafka_shim.authorizer.acl_mutants import AclMutant
from kafka_shim.shim.broker import MUTATION_RUN
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.observing.mutation_run import MutantNote, RunFolder
from kafka_shim.testing.mutation.changed_decisions import Situations, situations_of_notes

_FAILURES = ("failure", "error")


class TestNote(msgspec.Struct, frozen=True):
    """A phase of a test: its set-up, its call or its teardown."""

    __test__ = False  # for pytest

    test: str
    failed: bool
    seconds: float = 0


class SuiteFolder(RunFolder):
    """What pytest and other test frameworks write, besides the notes of brokers."""

    @property
    def results(self) -> Path:
        """The folder for the results as JUnit XML."""
        return self.path / "results"

    def write_selection(self, tests: Iterable[str]) -> None:
        """Let only these tests run."""
        self._selection.write_bytes(msgspec.json.encode(sorted(tests)))

    def read_selection(self) -> frozenset[str] | None:
        """Return the tests that run; None: all."""
        if not self._selection.exists():
            return None
        return msgspec.json.decode(self._selection.read_bytes(), type=frozenset[str])

    def write_running_test(self, process: str, test: str) -> None:
        """Write the test that a process runs; empty: none."""
        path = self.running_tests / process
        hidden = self.path / f"{process}.new"
        hidden.write_text(test, encoding="utf-8")
        hidden.replace(path)

    def append_test_note(self, process: str, note: bytes) -> None:
        with (self.path / f"tests-{process}.jsonl").open("ab") as file:
            file.write(note + b"\n")

    def test_notes(self) -> Iterator[TestNote]:
        """Yield the results of pytest, or else those in files of JUnit XML."""
        paths = sorted(self.path.glob("tests-*.jsonl"))
        decoder = msgspec.json.Decoder(TestNote)
        for path in paths:
            for line in path.read_bytes().split(b"\n")[:-1]:
                yield decoder.decode(line)
        if not paths:
            for path in sorted(self.results.rglob("*.xml")):
                yield from _junit_notes(path)

    @property
    def _selection(self) -> Path:
        return self.path / "selection.json"


def _junit_notes(path: Path) -> Iterator[TestNote]:
    """Yield the results in a file of JUnit XML; none if it is another file, or is cut off."""
    try:
        cases = list(ET.parse(path).iter("testcase"))  # noqa: S314 - the user's own test framework
    except ET.ParseError:
        return
    for case in cases:
        name = "::".join(filter(None, (case.get("classname"), case.get("name"))))
        yield TestNote(name, any(case.find(tag) is not None for tag in _FAILURES))


RESULTS = "{results}"
"""In a command: the folder in which the run reads results as JUnit XML."""
_OUTPUT_MAX = 3000
_TERMINATION_S = 5
_IS_POSIX = os.name == "posix"


class SuiteRun(msgspec.Struct, frozen=True):
    """The result of a run; `exit_code` is None if its time was over.

    `has_mutant` is whether a broker had an ACL to replace, and `has_changed_decision` whether a
    decision was another one because of it.
    """

    exit_code: int | None
    seconds: float
    failed: frozenset[str]
    seconds_by_test: dict[str, float]
    situations: Situations
    has_mutant: bool
    has_changed_decision: bool
    output: str

    @property
    def passed(self) -> bool:
        return self.exit_code == 0 and not self.failed

    def failures_besides(self, control: "SuiteRun") -> tuple[str, ...]:
        """Return what failed here and did not fail in a run without mutants: tests, or else the
        command.
        """
        tests = tuple(sorted(self.failed - control.failed))
        if self.exit_code is None:
            return (*tests, "time-out")
        if tests or self.exit_code == control.exit_code:
            return tests
        return (f"exit code {self.exit_code}",)


class Suite:
    """A command that runs tests. Runs may be made at the same time, from several threads."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self._command = command
        self._folder = folder
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._is_stopped = False

    def run(
        self,
        mutants: Sequence[AclMutant] = (),
        tests: Collection[str] | None = None,
        timeout_s: float | None = None,
    ) -> SuiteRun:
        """Run the tests, or those of them that are named, with mutants."""
        path = Path(tempfile.mkdtemp(prefix="run-", dir=self._folder))
        folder = SuiteFolder(path)
        folder.write_mutants(mutants)
        folder.results.mkdir()
        if tests is not None:
            folder.write_selection(tests)
        start = time.monotonic()
        exit_code = self._run_command(folder, timeout_s)
        return _read_run(folder, exit_code, time.monotonic() - start)

    def stop(self) -> None:
        """End all processes of all runs, and start no further ones."""
        self._is_stopped = True
        for process in tuple(self._processes):
            _kill_process_group(process)

    def _run_command(self, folder: SuiteFolder, timeout_s: float | None) -> int | None:
        words = [word.replace(RESULTS, str(folder.results)) for word in self._command]
        with (folder.path / "output").open("wb") as output:
            try:
                process = subprocess.Popen(  # noqa: S603 - the user's command
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=os.environ | {MUTATION_RUN: str(folder.path)},
                    start_new_session=_IS_POSIX,
                )
            except OSError as error:
                raise ConfigError(f"cannot start `{words[0]}`: {error.strerror}") from error
        self._processes.add(process)
        try:
            if self._is_stopped:
                timeout_s = 0
            return process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None
        finally:
            _kill_process_group(process)
            self._processes.discard(process)


def _kill_process_group(process: subprocess.Popen[bytes]) -> None:
    """End a process, and what it has started."""
    if _IS_POSIX:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
    elif process.poll() is None:
        process.terminate()
    try:
        process.wait(_TERMINATION_S)
    except subprocess.TimeoutExpired:
        if _IS_POSIX:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()


def _read_run(folder: SuiteFolder, exit_code: int | None, seconds: float) -> SuiteRun:
    failed, seconds_by_test = set[str](), dict[str, float]()
    for note in folder.test_notes():
        if note.failed:
            failed.add(note.test)
        seconds_by_test[note.test] = seconds_by_test.get(note.test, 0) + note.seconds
    notes = list(folder.notes_by_broker())
    effects = [note for each in notes for note in each if isinstance(note, MutantNote)]
    output = (folder.path / "output").read_text(encoding="utf-8", errors="replace")
    return SuiteRun(
        exit_code,
        seconds,
        frozenset(failed),
        seconds_by_test,
        situations_of_notes(notes),
        has_mutant=bool(effects),
        has_changed_decision=any(effect.has_changed_decision for effect in effects),
        output=output[-_OUTPUT_MAX:],
    )
