"""The broker under test: the shim as a child process, a real Kafka, or one that is already running.

Each has a plaintext listener, where the anonymous user is a super user, and a SASL_PLAINTEXT
listener for admin (a super user), alice, bob and carol, each with the password NAME-secret. The
shim, and a real Kafka started here, also get the settings of a `Workshop`: further mechanisms on
the SASL listener, and a listener for TLS with client certificates.
"""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.clients.workshop import Workshop
from tests.oracle.real_kafka import RealKafka
from tests.support.commands import SHIM

FOREIGN = "SHIM_TEST_BOOTSTRAP"
"""PLAIN_HOST:PORT,SASL_HOST:PORT of a broker to test instead of the shim."""

REAL = "SHIM_TEST_KAFKA"
"""A release such as 4.3.1: start a real Kafka and test that instead of the shim."""

USERS = ("admin", "alice", "bob", "carol")
START_SECONDS = 20
STOP_SECONDS = 10


class Bootstrap(NamedTuple):
    """Addresses as HOST:PORT; without `ssl`, users can only log in with PLAIN."""

    plaintext: str
    sasl_plaintext: str
    ssl: str = ""

    def of(self, protocol: str | None) -> str:
        """Return the address for a security protocol, by default the plaintext one."""
        return {None: self.plaintext, "SSL": self.ssl}.get(protocol, self.sasl_plaintext)


@contextlib.contextmanager
def bootstrap_of_test(folder: Path, workshop: Workshop) -> Iterator[Bootstrap]:
    """Yield the broker that the environment names; if it names none, start the shim."""
    foreign, release = os.environ.get(FOREIGN), os.environ.get(REAL)
    if foreign:
        plaintext, comma, sasl_plaintext = foreign.partition(",")
        assert comma, f"{FOREIGN}={foreign}: expected PLAIN_HOST:PORT,SASL_HOST:PORT"
        yield Bootstrap(plaintext, sasl_plaintext)
    elif release:
        with RealKafka(release, settings={**workshop.settings, **workshop.real_settings}) as kafka:
            yield Bootstrap(kafka.plain, kafka.sasl, kafka.ssl)
    else:
        with _shim(folder, workshop.settings) as bootstrap:
            yield bootstrap


@contextlib.contextmanager
def _shim(folder: Path, settings: Mapping[str, str]) -> Iterator[Bootstrap]:
    ready, log = folder / "ready", folder / "shim.log"
    command = [*SHIM, "serve", "--ready-file", str(ready)]
    for name in ("PLAINTEXT", "SASL_PLAINTEXT", "SSL"):
        command += ["--listener", f"{name}://127.0.0.1:0"]
    for principal in ("User:ANONYMOUS", "User:admin"):
        command += ["--super-user", principal]
    for user in USERS:
        command += ["--user", f"{user}:{user}-secret"]
    for key, value in settings.items():
        command += ["-c", f"{key}={value}"]
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
        if ready.exists():  # it is written atomically
            found = dict(line.split("=", 1) for line in ready.read_text().splitlines())
            return Bootstrap(found["PLAINTEXT"], found["SASL_PLAINTEXT"], found["SSL"])
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
