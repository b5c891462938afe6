"""One shim in a process of its own, with the options of `kafka-shim serve`."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kafka_shim.shim.testing.transport import HttpControl

START_SECONDS = 30


class ShimProcess:
    """`folder` has its log; it ends with its standard input."""

    def __init__(self, words: Sequence[str], folder: Path) -> None:
        ready, self._log = folder / "ready", folder / "log"
        ready.unlink(missing_ok=True)
        command = [sys.executable, "-P", "-m", "kafka_shim", "serve", *words]
        command += ["--control", "127.0.0.1:0", "--ready-file", str(ready), "--stop-with-stdin"]
        with self._log.open("wb") as log:
            self._child = subprocess.Popen(
                [*command, "--log-level", "error"],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=folder,
            )
        self._control = HttpControl(self._wait_until_ready(ready))

    def control(self, method: str, path: str) -> Any:
        return self._control.call(method, path, {}, None)

    def addresses(self) -> dict[int, dict[str, str]]:
        """HOST:PORT of each listener of each broker."""
        rows = self.control("GET", "/nodes")["nodes"]
        return {row["node_id"]: row["listeners"] for row in rows}

    def stop(self) -> float:
        """End it; the seconds of processor time that it has used."""
        if hasattr(self, "_control"):
            self._control.close()
        assert self._child.stdin is not None
        self._child.stdin.close()
        _, status, used = os.wait4(self._child.pid, 0)
        self._child.returncode = os.waitstatus_to_exitcode(status)
        return used.ru_utime + used.ru_stime

    def _wait_until_ready(self, ready: Path) -> str:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self._child.poll() is None:
            if ready.exists() and (text := ready.read_text()).endswith("\n"):
                lines = dict(line.partition("=")[::2] for line in text.splitlines())
                return lines["CONTROL"]
            time.sleep(0.005)
        self._child.kill()
        self._child.wait()
        raise RuntimeError(f"the broker did not start:\n{self._log.read_text()}")
