"""A shim in its own process, with the options of `kafka-shim serve`."""

import multiprocessing
import os
import resource
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kafka_shim.cli import main
from kafka_shim.testing.transport import HttpControl

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
