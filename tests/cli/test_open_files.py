"""Connections when the process has too many open files."""

import asyncio
import contextlib
import errno
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kafka_shim.cli.open_files_limit import REPORT_INTERVAL_S, ShortageReporter
from tests.shim.wire import PLAIN, serving
from tests.support.commands import SHIM, environment

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")


def limited(tmp_path: Path, limits: str) -> tuple[subprocess.Popen[str], tuple[str, int]]:
    """Start a broker in a shell with these limits; return the process and its address."""
    ready = tmp_path / "ready"
    options = f"--listener PLAINTEXT://127.0.0.1:0 --ready-file {ready} --authorizer none"
    child = subprocess.Popen(
        ["/bin/sh", "-c", f"{limits}; exec {' '.join(SHIM)} serve {options}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    deadline = time.monotonic() + 20
    while not ready.exists() and time.monotonic() < deadline and child.poll() is None:
        time.sleep(0.02)
    host, _, port = ready.read_text().strip().rpartition("=")[2].partition(":")
    return child, (host, int(port))


def is_responded(peer: socket.socket) -> bool:
    peer.sendall(bytes.fromhex("0000000a 0012 0000 00000001 ffff"))
    return bool(peer.recv(4))


def test_the_soft_limit_of_open_files_is_raised(tmp_path: Path) -> None:
    child, address = limited(tmp_path, "ulimit -Sn 50")
    with contextlib.ExitStack() as stack:
        stack.callback(child.communicate)
        stack.callback(child.terminate)
        peers = [stack.enter_context(socket.create_connection(address, 10)) for _ in range(100)]
        assert all(is_responded(peer) for peer in peers)


def test_clients_wait_for_open_files_and_this_is_reported_periodically(
    tmp_path: Path,
) -> None:
    begun = time.monotonic()
    child, address = limited(tmp_path, "ulimit -n 50")
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(socket.create_connection(address, 10))
        assert is_responded(first)
        for _ in range(100):
            stack.enter_context(socket.create_connection(address, 10))
        time.sleep(1.5)
        assert is_responded(first)
    with socket.create_connection(address, 10) as late:
        assert is_responded(late)
    child.terminate()
    said = child.communicate(timeout=20)[1]
    lines = said.splitlines()
    assert 1 <= len(lines) <= 1 + (time.monotonic() - begun) // REPORT_INTERVAL_S
    start = "kafka-shim: Too many open files: new connections wait; raise `ulimit"
    assert all(line.startswith(start) for line in lines)


@pytest.mark.asyncio
async def test_a_shortage_is_retried_once_a_second_until_the_listener_closes(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    attempts = 0

    def error_response(_: socket.socket) -> tuple[socket.socket, object]:
        nonlocal attempts
        attempts += 1
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    loop = asyncio.get_running_loop()
    ShortageReporter().install_exception_handler(loop)
    try:
        async with serving(listeners=(PLAIN,)) as broker:
            host, _, port = broker.bootstrap_servers().rpartition(":")
            with monkeypatch.context() as patched, socket.socket() as waiting:
                patched.setattr(socket.socket, "accept", error_response)
                waiting.connect((host, int(port)))
                await asyncio.sleep(2.5)
        assert 1 <= attempts <= 3
        await asyncio.sleep(1.2)
    finally:
        loop.set_exception_handler(None)
    assert capfd.readouterr().err.count("\n") == 1
    assert not caplog.records
