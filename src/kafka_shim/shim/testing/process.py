"""A broker in its own process, which always ends with this one."""

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kafka_shim.extras import is_installed, requires
from kafka_shim.shim.testing.settings import Settings
from kafka_shim.shim.testing.transport import BrokerError, HttpControl

START_S = 30
STOP_S = 5
_POLL_S = 0.005


class BrokerProcess:
    """`python -P -m kafka_shim serve`, without the current folder on its path and without the
    KAFKA_* settings of the test's environment.
    """

    def __init__(self, settings: Settings) -> None:
        if not is_installed("control"):
            raise BrokerError(requires("a broker in its own process", "pytest"))
        self._temporary = tempfile.TemporaryDirectory(prefix="kafka-shim-")
        self.folder = folder = Path(self._temporary.name)
        self._ready, self._log = folder / "ready", folder / "log"
        try:
            self._process = self._start_process(settings)
        except BaseException:
            self._temporary.cleanup()
            raise
        try:
            self.listeners, control = self._wait_until_ready()
        except BaseException:
            self.stop()
            raise
        self._control = HttpControl(control)
        self.control_url: str | None = self._control.url

    def _start_process(self, settings: Settings) -> subprocess.Popen[bytes]:
        command = [
            sys.executable,
            "-P",
            "-m",
            "kafka_shim",
            "serve",
            *settings.serve_arguments(self.folder),
        ]
        command += ["--control", "127.0.0.1:0", "--ready-file", str(self._ready)]
        with self._log.open("wb") as log:
            return subprocess.Popen(  # noqa: S603 - our own command
                [*command, "--stop-with-stdin"],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                env={key: value for key, value in os.environ.items() if key[:6] != "KAFKA_"},
            )

    def call(self, method: str, path: str, query: Mapping[str, str], body: Any) -> Any:
        try:
            return self._control.call(method, path, query, body)
        except BrokerError as error:
            if self._process.poll() is None:
                raise
            if not self.folder.exists():
                raise BrokerError("the broker was stopped") from error
            raise BrokerError(f"the broker has ended:\n{self._log_text()}") from error

    def stop(self) -> None:
        """End the broker and wait for its end."""
        if hasattr(self, "_control"):
            self._control.close()
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._temporary.cleanup()

    def _wait_until_ready(self) -> tuple[dict[str, list[str]], str]:
        deadline = time.monotonic() + START_S
        while not self._ready.exists():
            if self._process.poll() is not None:
                raise BrokerError(f"the broker did not start:\n{self._log_text()}")
            if time.monotonic() > deadline:
                raise BrokerError(f"the broker was not ready in {START_S} s:\n{self._log_text()}")
            time.sleep(_POLL_S)
        listeners: dict[str, list[str]] = {}
        for line in self._ready.read_text(encoding="utf-8").splitlines():
            name, _, address = line.partition("=")
            listeners.setdefault(name, []).append(address)
        return listeners, listeners.pop("CONTROL")[0]

    def _log_text(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace").strip()
