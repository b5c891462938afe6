"""Terminals, signals and streams around a broker."""

import os
import select
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_shim.shim.storage.database import Database
from kafka_shim.text import logs
from tests.support.commands import SHIM, environment

READY = "READY"
COUNTING = f"""
import signal, time
seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append(1))
print("{READY}", flush=True)
end = time.monotonic() + 20
while not seen and time.monotonic() < end:
    time.sleep(0.01)
time.sleep(0.5)
print("interrupted", len(seen), flush=True)
"""


def read_until(terminal: int, wanted: str, seconds: float = 30) -> str:
    said = ""
    deadline = time.monotonic() + seconds
    while wanted not in said and time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.1)[0]:
            said += os.read(terminal, 4096).decode()
    return said


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_ctrl_c_reaches_the_command_once() -> None:
    import pty

    pid, terminal = pty.fork()
    if pid == 0:
        words = [*SHIM, "run", "--", sys.executable, "-c", COUNTING]
        os.execve(words[0], words, environment())
    try:
        assert READY in read_until(terminal, READY)
        os.write(terminal, b"\x03")
        assert "interrupted 1" in read_until(terminal, "interrupted 1")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def test_a_signal_to_the_shim_alone_is_passed_to_the_command() -> None:
    child = subprocess.Popen(
        [*SHIM, "run", "--", sys.executable, "-c", COUNTING],
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
        start_new_session=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline().strip() == READY
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=30)[0].strip() == "interrupted 1"
    assert child.returncode == 0


def served(options: str) -> subprocess.CompletedProcess[str]:
    """Run `serve` with a shell, and wait until it ends."""
    return subprocess.run(
        " ".join([*SHIM, "serve", options]),
        shell=True,
        capture_output=True,
        check=False,
        text=True,
        timeout=30,
        env=environment(),
    )


def test_with_stop_with_stdin_a_closed_standard_input_ends_the_broker() -> None:
    done = served("--listener PLAINTEXT://127.0.0.1:0 --authorizer none --stop-with-stdin <&-")
    assert (done.returncode, done.stderr) == (0, "")
    assert "started" in done.stdout


def test_an_old_ready_file_is_removed_at_startup(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    ready.write_text("PLAINTEXT=127.0.0.1:1\n")
    done = served(f"--listener PLAINTEXT://192.0.2.1:0 --ready-file {ready}")
    assert done.returncode == 1
    assert "cannot listen on 192.0.2.1:0: " in done.stderr
    assert not ready.exists()


def test_the_ready_file_is_removed_when_the_broker_stops(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    done = served(
        f"--listener PLAINTEXT://127.0.0.1:0 --authorizer none --ready-file {ready}"
        " --stop-with-stdin < /dev/null"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert not ready.exists()


def test_a_ready_file_in_a_missing_folder_is_reported_at_startup(tmp_path: Path) -> None:
    ready = tmp_path / "nowhere" / "ready"
    done = served(f"--listener PLAINTEXT://127.0.0.1:0 --ready-file {ready}")
    assert (done.returncode, done.stdout) == (2, "")
    said = f"--ready-file {ready}: the folder `{ready.parent}` does not exist"
    assert done.stderr == f"kafka-shim serve: {said}\n"


def wait_until(condition: Callable[[], bool], seconds: float = 20) -> None:
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.02)


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_serve_runs_with_closed_streams(tmp_path: Path, closed: str) -> None:
    ready, errors = tmp_path / "ready", tmp_path / "errors"
    options = f"--listener PLAINTEXT://127.0.0.1:0 --data-dir {tmp_path / 'data'} -l debug"
    words = f"exec {shlex.join(SHIM)} serve {options} --ready-file {ready} {closed}"
    with errors.open("w") as stderr:
        child = subprocess.Popen(words, shell=True, stderr=stderr, env=environment())
    try:
        wait_until(lambda: ready.exists() or child.poll() is not None)
        host, _, port = ready.read_text().strip().partition("=")[2].partition(":")
        with socket.create_connection((host, int(port)), 5) as client:
            client.sendall(bytes.fromhex("0000000a00120000000000010000"))
            assert client.recv(4)
    finally:
        child.terminate()
    assert child.wait(20) == 0
    assert "Traceback" not in errors.read_text()
    Database(tmp_path / "data").close_without_commit()


def test_an_old_ready_file_is_removed_also_if_the_data_cannot_be_used(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    ready.write_text("PLAINTEXT=127.0.0.1:1\n")
    (tmp_path / "data").touch()
    done = served(f"--data-dir {tmp_path / 'data'} --ready-file {ready}")
    assert done.returncode == 2
    assert not ready.exists()


def test_a_hangup_ends_serve_gracefully(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    words = ["--listener", "PLAINTEXT://127.0.0.1:0", "--authorizer", "none"]
    with subprocess.Popen(
        [*SHIM, "serve", *words, "--ready-file", str(ready)],
        stdout=subprocess.DEVNULL,
        env=environment(),
    ) as child:
        wait_until(ready.exists)
        child.send_signal(signal.SIGHUP)
        assert child.wait(20) == 0
    assert not ready.exists()


def test_a_hangup_is_ignored_after_nohup(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    words = ["--listener", "PLAINTEXT://127.0.0.1:0", "--authorizer", "none"]
    with subprocess.Popen(
        ["nohup", *SHIM, "serve", *words, "--ready-file", str(ready)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
    ) as child:
        wait_until(ready.exists)
        child.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        assert child.poll() is None
        child.terminate()
        assert child.wait(20) == 0


def test_a_hangup_ends_the_command_of_run() -> None:
    waiting = f"import time; print('{READY}', flush=True); time.sleep(60)"
    with subprocess.Popen(
        [*SHIM, "run", "--", sys.executable, "-c", waiting],
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline().strip() == READY
        child.send_signal(signal.SIGHUP)
        assert child.wait(20) == 128 + signal.SIGHUP


@pytest.mark.parametrize(
    ("variables", "is_coloured"),
    [
        ({}, True),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": ""}, True),
        ({"TERM": "dumb"}, False),
        ({"TERM": "xterm"}, True),
    ],
)
def test_colours_can_be_turned_off(
    variables: dict[str, str], is_coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "NO_COLOR", "TERM":
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert logs.stderr_supports_colours() is is_coloured
