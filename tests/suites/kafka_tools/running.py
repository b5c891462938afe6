"""Runs the commands of a session, one after the other, against one broker."""

import difflib
import itertools
import re
import shlex
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.suites import kafka_home
from tests.suites.broker import Broker, Needs
from tests.suites.cache import SuiteError, need, progress
from tests.suites.kafka_tools.cleaning import clean
from tests.suites.kafka_tools.session import Step, load, save
from tests.suites.outcome import FAILED, PASSED, Result

SESSIONS = Path(__file__).parent / "sessions"
USERS = {"admin": "admin-secret", "alice": "alice-secret", "bob": "bob-secret"}
NEEDS = Needs(users=USERS, scram=False)
STEP_SECONDS = 60

_FILE = re.compile(r"\$\(([^)]*)\)")


@dataclass(frozen=True)
class Stage:
    """The broker of a session, and the folder for files that its commands name."""

    broker: Broker
    folder: Path

    def words(self, command: str) -> list[str]:
        for name, address in self.broker.listeners.items():
            command = re.sub(rf"\${name}\b", address, command)
        address = self.broker.plaintext
        for user in USERS:
            if f"${user.upper()}" in command:
                address = self.broker.sasl_plaintext
                command = command.replace(f"${user.upper()}", str(self._login(user)))
        command = _FILE.sub(lambda match: str(self._file(match[1])), command)
        tool, *arguments = shlex.split(command)
        if tool not in kafka_home.MAIN_CLASSES:
            raise SuiteError(f"`{tool}` is none of Kafka's tools")
        if "--bootstrap-server" not in arguments:  # first, since some tools have subcommands
            arguments = ["--bootstrap-server", address, *arguments]
        return [*kafka_home.words(self.broker.release, tool), *arguments]

    def places(self) -> dict[str, str]:
        """Return texts that differ in each run, with the names that replace them."""
        named = {address: f"${name}" for name, address in self.broker.listeners.items()}
        ports = {address.rpartition(":")[2]: f"{name}_PORT" for address, name in named.items()}
        return named | {str(self.folder): "$FOLDER"} | ports

    def _login(self, user: str) -> Path:
        module = "org.apache.kafka.common.security.plain.PlainLoginModule"
        path = self.folder / f"{user}.properties"
        path.write_text(
            "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
            f'sasl.jaas.config={module} required username="{user}" password="{USERS[user]}";\n'
        )
        return path

    def _file(self, text: str) -> Path:
        path = self.folder / f"file-{abs(hash(text))}"
        path.write_text(text)
        return path


def run(broker: Broker, only: str) -> list[Result]:
    """Run each command as a test that compares its output with the recording of a real broker."""
    results = []
    for path, step, printed, code, seconds in _played(broker, only):
        results.append(_compared(path, step, printed, code, seconds))
        if results[-1].state == FAILED:
            progress(f"differs: {results[-1].name}")
    return results


def record(broker: Broker, only: str) -> int:
    """Write the output of the tools to the session files; return the number of commands."""
    played = 0
    for path, steps in itertools.groupby(_played(broker, only), key=itemgetter(0)):
        session = []
        for _, step, printed, code, _ in steps:
            step.printed, step.exit_code = printed, code
            session.append(step)
        save(path, session)
        played += len(session)
    return played


def _played(broker: Broker, only: str) -> Iterator[tuple[Path, Step, list[str], int, float]]:
    need("java", "mvn")
    kafka_home.quicken(broker.release, broker.plaintext)
    with TemporaryDirectory(prefix="kafka-tools-") as folder:
        stage = Stage(broker, Path(folder))
        for path in sorted(SESSIONS.glob("*.txt")):
            if not re.search(only, path.stem):
                continue
            progress(f"session {path.stem}")
            with ExitStack() as background:
                for step in load(path):
                    began = time.monotonic()
                    text, code = _execute(stage, step, background)
                    printed = clean(text, stage.places())
                    yield path, step, printed, code, time.monotonic() - began


def _execute(stage: Stage, step: Step, background: ExitStack) -> tuple[str, int]:
    """Run a command; return its output and exit code, -1 if it had to be stopped."""
    if step.until:
        return _begin(stage, step, background)
    try:
        done = subprocess.run(
            stage.words(step.command),
            input="".join(f"{line}\n" for line in step.given),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=STEP_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        return (error.stdout or b"").decode(), -1  # bytes, even with text=True
    return done.stdout, done.returncode


def _begin(stage: Stage, step: Step, background: ExitStack) -> tuple[str, int]:
    """Start a command, wait for its `until` text, and leave it running; ignore its output."""
    output = stage.folder / f"output-{step.line}"
    child = subprocess.Popen(
        stage.words(step.command), stdout=output.open("wb"), stderr=subprocess.STDOUT
    )
    background.callback(child.wait)
    background.callback(child.kill)
    deadline = time.monotonic() + STEP_SECONDS
    while step.until not in output.read_text() and child.poll() is None:
        if time.monotonic() > deadline:
            return output.read_text(), -1
        time.sleep(0.1)
    return ("", 0) if child.poll() is None else (output.read_text(), child.returncode)


def _compared(path: Path, step: Step, printed: list[str], code: int, seconds: float) -> Result:
    expected, found = step.printed, printed
    if not step.is_ordered:
        expected, found = sorted(expected), sorted(found)
    name = f"{path.stem}:{step.line} {step.command}"
    expected, found = [*expected, f"exit {step.exit_code}"], [*found, f"exit {code}"]
    if expected == found:
        return Result(name, PASSED, seconds)
    lines = difflib.unified_diff(expected, found, lineterm="", n=0)
    changed = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
    return Result(name, FAILED, seconds, "\n".join(changed))
