"""The brokers to compare, as context managers."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from kafka_shim.protocol.api_versions import parse_minor_release
from tests.oracle.real_kafka import USERS, RealKafka, free_ports, numbers, settings_of
from tests.recordings.conformance.play import CLIENT_ID
from tests.recordings.conformance.recording import settling
from tests.recordings.peers.connecting import connected
from tests.recordings.peers.in_process import InProcess
from tests.recordings.peers.peer import Peer
from tests.recordings.peers.socket_peer import SocketPeer
from tests.support.commands import SHIM

START_SECONDS = 60


def name_of(release: str, mode: str) -> str:
    """Return the name of a recording: the release, and the mode unless it is the default."""
    return release if mode == "authorizer" else f"{release}-{mode}"


def compared_settings(release: str) -> dict[str, str]:
    """Return settings that let a controller append changes to its log immediately, that leave room
    for the fetch sessions of all scenarios, which brokers evict after two minutes, and that keep
    empty groups, which brokers remove after ten.
    """
    settings = {
        "max.incremental.fetch.session.cache.slots": "1000000",
        "offsets.retention.check.interval.ms": "86400000",
    }
    if numbers(release) >= (3, 1):
        settings["controller.quorum.append.linger.ms"] = "0"
    return settings


@contextmanager
def real(release: str, mode: str) -> Iterator[Peer]:
    with RealKafka(release, mode, compared_settings(release)) as kafka, settling(kafka) as peer:
        yield peer


@contextmanager
def running(addresses: str, release: str) -> Iterator[Peer]:
    """Connect to a running real broker, given as `PLAINTEXT-ADDRESS,SASL-ADDRESS`."""
    plain, _, sasl = addresses.partition(",")
    peer = SocketPeer(release, plain, sasl, client_id=CLIENT_ID)
    try:
        peer.settle(kraft=numbers(release) >= (3,))
        yield peer
    finally:
        peer.close()


@contextmanager
def in_process(release: str, mode: str) -> Iterator[Peer]:
    settings = compared_settings(release)
    if numbers(release) >= (3,):
        settings["listener.security.protocol.map"] = (
            "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SSL:SSL,SASL_SSL:SASL_SSL,"
            "CONTROLLER:PLAINTEXT"
        )
    yield InProcess(release, mode, settings, client_id=CLIENT_ID)


@contextmanager
def child(release: str, mode: str) -> Iterator[Peer]:
    """Start the shim in its own process, as users do."""
    plain, sasl = (f"127.0.0.1:{port}" for port in free_ports(2))
    command = [*SHIM, "serve"]
    command += ["--kafka-version", parse_minor_release(release), "--log-level", "error"]
    command += ["--listener", f"PLAINTEXT://{plain}", "--listener", f"SASL_PLAINTEXT://{sasl}"]
    command += [part for user in USERS for part in ("--user", f"{user}:{user}-secret")]
    if mode == "none":
        command += ["--authorizer", "none"]
    else:
        command += ["--super-user", "User:ANONYMOUS", "--super-user", "User:admin"]
    if mode == "open":
        command.append("--allow-everyone-if-no-acl-found")
    for key, value in (settings_of(release) | compared_settings(release)).items():
        command += ["-c", f"{key}={value}"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        with connected(release, plain, sasl, client_id=CLIENT_ID) as peer:
            yield peer
    finally:
        process.terminate()
        process.wait(START_SECONDS)
