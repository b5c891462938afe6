"""The shims of Kafka's own tests: one for each test, or one for all tests with equal settings."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

from tests.suites.kafka import java_properties
from tests.suites.kafka.shim_process import ShimProcess

CLUSTER_ID = "one-broker-of-all-tests"
"""Of all tests, if they share brokers: Kafka's harnesses give each test an id of its own."""

IDLE = 24
_OF_A_TEST = ("controller.quorum.voters", "outside.store.")
_CONTROLLER_PORT = re.compile(r"(CONTROLLER\w*://[^:,]*):\d+")


class Lent:
    """A shim that a test has, and by which settings another test may have it."""

    def __init__(self, key: str, process: ShimProcess) -> None:
        self.key = key
        self.process = process
        self._closed_before = 0.0

    def begin(self) -> None:
        """Reset it; connections that were closed until now do not count."""
        self.process.control("POST", "/reset")
        self._closed_before = self.process.closed_connections()

    def closed_connections(self) -> float:
        return self.process.closed_connections() - self._closed_before


class ShimPool:
    """With `is_shared`, shims that were given back wait for a test with equal settings."""

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
        """Return a shim with these options of `serve`, reset or new."""
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
        """Stop all but the shims that were given back last."""
        while len(self._idle) > count:
            self.processor_seconds += self._idle.pop(0).process.stop()


def settings_key(words: Sequence[str]) -> str:
    """Return what is equal for two tests that one shim can serve, of the options of `serve`.

    The last option is the path of a file of settings. A harness chooses the controllers' ports
    anew for each test, and a shim does not listen there.
    """
    *others, path = words
    settings: Mapping[str, str] = java_properties.read(Path(path).read_text())
    kept = {
        key: _CONTROLLER_PORT.sub(r"\1", value)
        for key, value in sorted(settings.items())
        if not key.startswith(_OF_A_TEST)
    }
    return "\n".join([*others, java_properties.write(kept)])
