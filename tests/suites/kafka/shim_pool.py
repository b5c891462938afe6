"""The shims of Kafka's own tests: a new one for each test, or shared for equal settings."""

import multiprocessing
import os
import re
import resource
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

from kafka_shim.cli import main
from kafka_shim.testing.transport import HttpControl
from tests.suites.kafka import java_properties

START_SECONDS = 30
STOP_SECONDS = 10
_CLOSED = "kafka_shim_connections_closed_total "

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.suites.kafka.shim_preload"])


class ShimProcess:
    """A shim; `folder` has its log and the processor time that it used."""

    def __init__(self, words: Sequence[str], folder: Path) -> None:
        ready, self._log, self._used = folder / "ready", folder / "log", folder / "used"
        for path in (ready, self._used):
            path.unlink(missing_ok=True)
        command = ["serve", *words, "--control", "127.0.0.1:0", "--ready-file", str(ready)]
        command += ["--log-level", "error"]
        self._child = _FORKS.Process(target=_serve, args=(command, self._log, self._used))
        self._child.start()
        self._control = HttpControl(self._await_ready(ready))

    def control(self, method: str, path: str) -> Any:
        return self._control.call(method, path, {}, None)

    def addresses(self) -> dict[int, dict[str, str]]:
        """Return HOST:PORT of each listener of each broker."""
        rows = self.control("GET", "/nodes")["nodes"]
        return {row["node_id"]: row["listeners"] for row in rows}

    def closed_connections(self) -> float:
        """Return the number of connections closed because of invalid requests."""
        lines = self.control("GET", "/metrics").splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith(_CLOSED))

    def stop(self) -> float:
        """Stop the shim; return the processor time that it has used, in seconds."""
        self._control.close()
        self._child.terminate()
        self._child.join(STOP_SECONDS)
        if self._child.is_alive():
            self._child.kill()
            self._child.join()
        return float(self._used.read_text()) if self._used.exists() else 0.0

    def _await_ready(self, ready: Path) -> str:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self._child.is_alive():
            if ready.exists() and (text := ready.read_text()).endswith("\n"):
                return dict(line.partition("=")[::2] for line in text.splitlines())["CONTROL"]
            time.sleep(0.005)
        self._child.kill()
        self._child.join()
        raise RuntimeError(f"the broker did not start:\n{self._log.read_text()}")


def _serve(command: list[str], log: Path, used: Path) -> None:
    """Run the broker in the forked process."""
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    try:
        main(command)
    finally:
        own = resource.getrusage(resource.RUSAGE_SELF)
        used.write_text(str(own.ru_utime + own.ru_stime))


CLUSTER_ID = "b25lLWZvci1lYWNoLW9uZQ"
"""The cluster id of all tests that share shims; Kafka's harnesses create an id for each test."""

IDLE = 24
_OF_A_TEST = ("controller.quorum.voters", "outside.store.")
_CONTROLLER_PORT = re.compile(r"(CONTROLLER\w*://[^:,]*):\d+")


class Lent:
    """A shim lent to a test; `key` identifies the settings of tests that can share it."""

    def __init__(self, key: str, process: ShimProcess) -> None:
        self.key = key
        self.process = process
        self._closed_before = 0.0

    def begin(self) -> None:
        """Reset the shim for a test; connections closed before do not count."""
        self.process.control("POST", "/reset")
        self._closed_before = self.process.closed_connections()

    def closed_connections(self) -> float:
        return self.process.closed_connections() - self._closed_before


class ShimPool:
    """Lends shims to tests; with `is_shared`, tests with equal settings reuse returned shims."""

    def __init__(self, *, is_shared: bool) -> None:
        self._is_shared = is_shared
        self._folder = TemporaryDirectory(prefix="kafka-suite-")
        self._idle: list[Lent] = []
        self.clusters = 0
        self.started = 0
        self.processor_seconds = 0.0

    def folder(self) -> Path:
        """Make a folder for the next shim's files."""
        return Path(mkdtemp(dir=self._folder.name))

    def take(self, words: Sequence[str], folder: Path) -> Lent:
        """Lend a shim with these options of `serve`: a waiting one after a reset, or a new one."""
        key = settings_key(words)
        self.clusters += 1
        for lent in self._idle:
            if lent.key == key:
                self._idle.remove(lent)
                lent.begin()
                return lent
        self.started += 1
        return Lent(key, ShimProcess(words, folder))

    def give_back(self, lent: Lent) -> None:
        self._idle.append(lent)
        self._stop_beyond(IDLE if self._is_shared else 0)

    def close(self) -> None:
        self._stop_beyond(0)
        self._folder.cleanup()

    def _stop_beyond(self, count: int) -> None:
        """Stop all waiting shims except the `count` that were returned last."""
        while len(self._idle) > count:
            self.processor_seconds += self._idle.pop(0).process.stop()


def settings_key(words: Sequence[str]) -> str:
    """Return a key of `serve` options, which is equal for tests that can share a shim.

    The last option is the path of a file with settings. It contains ports of controllers, which are
    left out: a harness chooses new ones for each test, and a shim does not listen there.
    """
    *others, path = words
    settings: Mapping[str, str] = java_properties.read(Path(path).read_text())
    kept = {
        key: _CONTROLLER_PORT.sub(r"\1", value)
        for key, value in sorted(settings.items())
        if not key.startswith(_OF_A_TEST)
    }
    return "\n".join([*others, java_properties.write(kept)])
