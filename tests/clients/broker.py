"""The broker under test: the shim as a child process, or a foreign one that is already running.

Both offer the same: a plaintext address where anonymous is a super user, and a SASL_PLAINTEXT
(PLAIN) address for admin (a super user), alice, bob and carol, each with the password NAME-secret.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FOREIGN = "KAFKA_SHIM_TEST_BOOTSTRAP"
"""PLAIN_HOST:PORT,SASL_HOST:PORT of a broker to test instead of the shim."""

USERS = ("admin", "alice", "bob", "carol")
START_SECONDS = 20
STOP_SECONDS = 10


class Bootstrap(NamedTuple):
    """Where clients connect: HOST:PORT each."""

    plaintext: str
    sasl_plaintext: str


@contextlib.contextmanager
def bootstrap_of_test(folder: Path) -> Iterator[Bootstrap]:
    """The foreign broker if the environment names one, else a shim of its own in `folder`."""
    foreign = os.environ.get(FOREIGN)
    if foreign:
        plaintext, comma, sasl_plaintext = foreign.partition(",")
        assert comma, f"{FOREIGN}={foreign}: expected PLAIN_HOST:PORT,SASL_HOST:PORT"
        yield Bootstrap(plaintext, sasl_plaintext)
        return
    with _shim(folder) as bootstrap:
        yield bootstrap


@contextlib.contextmanager
def _shim(folder: Path) -> Iterator[Bootstrap]:
    ready, log = folder / "ready", folder / "shim.log"
    command = [sys.executable, "-P", "-m", "shim", "serve", "--ready-file", str(ready)]
    for name in ("PLAINTEXT", "SASL_PLAINTEXT"):
        command += ["--listener", f"{name}://127.0.0.1:0"]
    for principal in ("User:ANONYMOUS", "User:admin"):
        command += ["--super-user", principal]
    for user in USERS:
        command += ["--user", f"{user}:{user}-secret"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            yield _addresses(process, ready, log)
            ended = process.poll()
            assert ended is None, f"the shim ended by itself with {ended}:\n{_tail(log)}"
        finally:
            _stop(process)


def _addresses(process: subprocess.Popen[bytes], ready: Path, log: Path) -> Bootstrap:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        # Whole only when both lines have their line break.
        if ready.exists() and (text := ready.read_text()).count("\n") >= 2:
            found = dict(line.split("=", 1) for line in text.splitlines())
            return Bootstrap(found["PLAINTEXT"], found["SASL_PLAINTEXT"])
        if process.poll() is not None:
            break
        time.sleep(0.02)
    raise AssertionError(f"the shim did not start:\n{_tail(log)}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise


def _tail(log: Path) -> str:
    return log.read_text(errors="replace")[-4000:]
