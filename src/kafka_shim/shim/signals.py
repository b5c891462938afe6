"""Handling of SIGINT, SIGTERM and SIGHUP, where the event loop supports it."""

import asyncio
import contextlib
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import Callable

TERMINAL = "/dev/tty"


def call_on_stop_signal(callback: Callable[[signal.Signals], None]) -> None:
    """Call back on the loop; on Windows, whose loops cannot, Ctrl-C stays an exception."""
    if sys.platform == "win32":
        return
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number == signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN:
            continue  # started with nohup
        loop.add_signal_handler(number, callback, number)


class SignalForwarder:
    """Forwards signals to a command: each once, also those before the command started.

    `kill_after_s`: a command that still runs so long after SIGTERM or SIGHUP is killed.
    """

    def __init__(self, kill_after_s: float | None = None) -> None:
        self._command: Process | None = None
        self._kill_after_s = kill_after_s
        self.has_killed = False
        self._early: list[signal.Signals] = []
        self.has_received_signal = False
        call_on_stop_signal(self._on_signal)

    def forward_to(self, command: Process) -> None:
        """Forward signals from now on, and those received before."""
        self._command = command
        for number in self._early:
            self._send_signal(command, number)
        self._early.clear()

    def _on_signal(self, number: signal.Signals) -> None:
        self.has_received_signal = True
        if self._kill_after_s is not None and number != signal.SIGINT:
            asyncio.get_running_loop().call_later(self._kill_after_s, self._kill)
        if self._command is None:
            self._early.append(number)
        elif not _was_sent_by_terminal(number):
            self._send_signal(self._command, number)

    def _kill(self) -> None:
        if self._command is not None and self._command.returncode is None:
            self.has_killed = True
            self._send_signal(self._command, signal.SIGKILL)

    def _send_signal(self, command: Process, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            command.send_signal(number)


def _was_sent_by_terminal(number: signal.Signals) -> bool:
    """Return whether this is a Ctrl-C, which the terminal has sent to the command as well.

    A second one would end a test runner in the middle of its tidying up.
    """
    if number != signal.SIGINT or sys.platform == "win32":
        return False
    try:
        terminal = os.open(TERMINAL, os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    finally:
        os.close(terminal)
