"""The shims of Kafka's own tests: a new one for each test, or shared for equal settings."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

from tests.suites.kafka import java_properties
from tests.suites.kafka.shim_process import ShimProcess

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
