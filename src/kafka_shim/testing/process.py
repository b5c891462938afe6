"""A broker in its own process, which always ends with this one."""

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kafka_shim.testing.settings import STARTUP_TIMEOUT_S, Settings
from kafka_shim.testing.transport import BrokerError, HttpControl
from kafka_shim.text import extras
from kafka_shim.text.extras import is_installed, requires

STOP_S = 5
_POLL_S = 0.005


class ServeProcess:
    """`python -P -m kafka_shim serve`, without the current folder on its path and without the
    KAFKA_* settings of the test's environment.
    """

    def __init__(
        self, arguments: Callable[[Path], list[str]], startup_timeout: float = STARTUP_TIMEOUT_S
    ) -> None:
        """Start it, with arguments that may name files in its own folder, and wait for it.

        Raise BrokerError if it does not start.
        """
        self._temporary = tempfile.TemporaryDirectory(prefix="kafka-shim-")
        self.folder = folder = Path(self._temporary.name)
        self._ready, self._log = folder / "ready", folder / "log"
        try:
            self._process = self._start_process(arguments(folder))
        except BaseException:
            self._temporary.cleanup()
            raise
        try:
            self.listeners = self._await_ready(startup_timeout)
        except BaseException:
            self.end(STOP_S)
            self.remove_folder()
            raise

    @property
    def has_ended(self) -> bool:
        """Return whether the process has ended."""
        return self._process.poll() is not None

    def end(self, timeout_s: float) -> int:
        """End the process and wait for its end; return its exit code."""
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def remove_folder(self) -> None:
        """Remove the files of the process."""
        self._temporary.cleanup()

    def log_text(self) -> str:
        """Return what the process has printed."""
        return self._log.read_text(encoding="utf-8", errors="replace").strip()

    def _start_process(self, arguments: list[str]) -> subprocess.Popen[bytes]:
        command = [*extras.kafka_shim_command(), "serve", *arguments]
        command += ["--ready-file", str(self._ready), "--stop-with-stdin"]
        environment = {key: value for key, value in os.environ.items() if key[:6] != "KAFKA_"}
        with self._log.open("wb") as log:
            return subprocess.Popen(  # noqa: S603 - our own command
                command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                env=environment | {"PYTHONFAULTHANDLER": "1"},
            )

    def _await_ready(self, timeout_s: float) -> dict[str, list[str]]:
        deadline = time.monotonic() + timeout_s
        while not self._ready.exists():
            if self._process.poll() is not None:
                raise BrokerError(f"the broker did not start:\n{self.log_text()}")
            if time.monotonic() > deadline:
                self._log_stacks()
                raise BrokerError(
                    f"the broker was not ready in {timeout_s:g} s; wait longer with"
                    f" startup_timeout. It was doing this:\n{self.log_text()}"
                )
            time.sleep(_POLL_S)
        listeners: dict[str, list[str]] = {}
        for line in self._ready.read_text(encoding="utf-8").splitlines():
            name, _, address = line.partition("=")
            listeners.setdefault(name, []).append(address)
        return listeners

    def _log_stacks(self) -> None:
        """End the process; its fault handler writes into the log what each thread was doing."""
        if os.name == "posix":
            self._process.send_signal(signal.SIGABRT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_S)


class BrokerProcess:
    """A broker in its own process, with its control API."""

    def __init__(self, settings: Settings) -> None:
        if not is_installed("control"):
            raise BrokerError(requires("a broker in its own process", "pytest"))
        self._process = ServeProcess(
            lambda folder: [*settings.serve_arguments(folder), "--control", "127.0.0.1:0"],
            settings.startup_timeout,
        )
        self.folder = self._process.folder
        self.listeners = self._process.listeners
        self._control = HttpControl(self.listeners.pop("CONTROL")[0])
        self.control_url: str | None = self._control.url

    def call(self, method: str, path: str, query: Mapping[str, str], body: Any) -> Any:
        try:
            return self._control.call(method, path, query, body)
        except BrokerError as error:
            if not self._process.has_ended:
                raise
            if not self.folder.exists():
                raise BrokerError("the broker was stopped") from error
            raise BrokerError(f"the broker has ended:\n{self._process.log_text()}") from error

    def stop(self) -> None:
        """End the broker and wait for its end."""
        self._control.close()
        self._process.end(STOP_S)
        self._process.remove_folder()
