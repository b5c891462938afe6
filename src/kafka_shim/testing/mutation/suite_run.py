"""Runs of a test suite, each in its own folder, with mutants or without."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from kafka_shim.authorizer.acl_mutants import AclMutant
from kafka_shim.shim.broker import MUTATION_RUN
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.observing.mutation_run import MutantNote
from kafka_shim.testing.mutation.changed_decisions import Situations, situations_of_notes
from kafka_shim.testing.mutation.suite_folder import SuiteFolder

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
