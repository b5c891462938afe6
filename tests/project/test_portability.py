"""Where the broker would need Unix: the list is complete, and it runs without these modules."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.project import portability

LIKE_WINDOWS = """\
import asyncio, os, select, signal, socket, sys, tempfile

class NoUnix:
    def find_spec(self, name, path=None, target=None):
        if name in {"fcntl", "grp", "pwd", "resource", "termios", "tty", "pty"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules.pop(name, None)
sys.meta_path.insert(0, NoUnix())

def refuse(*_):
    raise RuntimeError("no such method on Windows")

asyncio.SelectorEventLoop.add_signal_handler = refuse
del select.poll, select.epoll, select.PIPE_BUF, os.getpgrp, os.tcgetpgrp, os.O_NOCTTY
del signal.SIGKILL, signal.SIGHUP, socket.SO_REUSEPORT

import uvicorn.server  # chooses its own modules for Windows, as asyncio does
from kafka_shim import cli

sys.platform = "win32"
sys.exit(cli.main(sys.argv[1:]))
"""
"""Runs kafka-shim without what Python has on Unix only. asyncio and uvicorn are as on Unix."""


def run_like_windows(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "like_windows.py").write_text(LIKE_WINDOWS)
    return subprocess.run(
        [sys.executable, "-P", "like_windows.py", *words],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def test_every_place_has_a_reason_and_every_reason_a_place(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert portability.main() == 0, capsys.readouterr().out


def test_a_client_is_served_and_denied_without_unix_modules(tmp_path: Path) -> None:
    client = (
        "import os, urllib.request as u\n"
        "from kafka import KafkaProducer\n"
        "from kafka.errors import TopicAuthorizationFailedError\n"
        "producer = KafkaProducer(bootstrap_servers=os.environ['KAFKA_BOOTSTRAP_SERVERS'])\n"
        "try: producer.send('orders', b'x').get(10)\n"
        "except TopicAuthorizationFailedError: print('denied')\n"
        "print(u.urlopen(os.environ['KAFKA_SHIM_CONTROL_URL'] + '/health').status)\n"
    )
    done = run_like_windows(
        tmp_path, "run", "--topic", "orders", "--authorizer", "standard",
        "--control", "127.0.0.1:0", "--record", "trace", "--", sys.executable, "-c", client,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["denied", "200"]
    assert "Produce" in run_like_windows(tmp_path, "trace", "info", "trace").stdout


def test_data_on_disk_is_refused_there_by_name(tmp_path: Path) -> None:
    done = run_like_windows(tmp_path, "run", "--data-dir", "kept", "--", "true")
    assert done.returncode == 2, done.stderr
    assert "--data-dir needs Linux or macOS" in done.stderr
