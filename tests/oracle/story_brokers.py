"""Starts what interleaved stories are compared on: real brokers and a shim, with TLS or several."""

import contextlib
import ssl
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kafka_shim.protocol.api_versions import parse_minor_release
from tests.oracle.operated_kafka import OperatedKafka
from tests.oracle.peers import START_SECONDS
from tests.oracle.real_kafka import USERS, RealKafka, free_ports, numbers, settings_of
from tests.recordings.conformance import interleaving
from tests.recordings.conformance.play import CLIENT_ID
from tests.recordings.peers.cluster_peer import ClusterPeer
from tests.recordings.peers.connecting import connected
from tests.recordings.peers.peer import Peer
from tests.recordings.peers.socket_peer import SocketPeer
from tests.recordings.peers.warming import warm
from tests.support.commands import SHIM

SCRAM_USERS_SINCE = (3, 5)
"""KRaft brokers get SCRAM users when their storage is formatted; before 3.0, none are needed."""


@contextlib.contextmanager
def real(release: str, brokers: int, *, tls: bool) -> Iterator[Peer]:
    """Start real brokers: one, or two in a cluster."""
    settings = interleaving.settings_of(release)
    scram = numbers(release) < (3,) or numbers(release) >= SCRAM_USERS_SINCE
    if not scram:
        settings["sasl.enabled.mechanisms"] = "PLAIN"
    with contextlib.ExitStack() as stack:
        if brokers == 1 and not tls:
            kafka = stack.enter_context(RealKafka(release, settings=settings, scram=scram))
            kafkas = [kafka]
            context = None
        else:
            first = OperatedKafka(release, "authorizer", settings, scram=scram, has_tls=tls)
            operated = [stack.enter_context(first)]
            for _ in range(1, brokers):
                other = OperatedKafka(
                    release, "authorizer", settings, scram=scram, has_tls=tls, offload=first
                )
                operated.append(stack.enter_context(other))
            context = _trusting([each.authority for each in operated]) if tls else None
            kafkas = list[RealKafka](operated)
        name = "SASL_SSL" if tls else "SASL_PLAINTEXT"
        peers = []
        for kafka in kafkas:
            listeners = kafka.listeners()
            addresses = listeners["PLAINTEXT"], listeners[name]
            opening = connected(release, *addresses, client_id=CLIENT_ID, tls=context, warms=False)
            peer = stack.enter_context(opening)
            peer.settle(kraft=kafka.is_kraft)
            peers.append(peer)
        yield _joined(peers)


@contextlib.contextmanager
def child(release: str, brokers: int, *, tls: bool) -> Iterator[Peer]:
    """Start the shim in its own process, with as many brokers."""
    plain, sasl = _port_ranges(brokers)
    security = "SASL_SSL" if tls else "SASL_PLAINTEXT"
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        command = [*SHIM, "serve", "--kafka-version", parse_minor_release(release)]
        command += ["--log-level", "error", "--brokers", str(brokers)]
        command += ["--listener", f"PLAINTEXT://127.0.0.1:{plain}"]
        command += ["--listener", f"{security}://127.0.0.1:{sasl}"]
        command += [part for user in USERS for part in ("--user", f"{user}:{user}-secret")]
        command += ["--super-user", "User:ANONYMOUS", "--super-user", "User:admin"]
        command += ["--tls-dir", folder] if tls else []
        for key, value in (settings_of(release) | interleaving.settings_of(release)).items():
            command += ["-c", f"{key}={value}"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        stack.callback(process.wait, START_SECONDS)
        stack.callback(process.terminate)
        first = stack.enter_context(
            connected(
                release, f"127.0.0.1:{plain}", f"127.0.0.1:{sasl}", client_id=CLIENT_ID, warms=False
            )
        )
        context = _trusting([Path(folder) / "ca.pem"]) if tls else None
        first.close()
        yield _joined(
            [
                stack.enter_context(
                    connected(
                        release,
                        f"127.0.0.1:{plain + at}",
                        f"127.0.0.1:{sasl + at}",
                        client_id=CLIENT_ID,
                        tls=context,
                        warms=False,
                    )
                )
                for at in range(brokers)
            ]
        )


def _joined(peers: list[SocketPeer]) -> Peer:
    peer: Peer = peers[0]
    if len(peers) > 1:
        peer = ClusterPeer(peers, kraft=numbers(peers[0].release) >= (3,))
    warm(peer)
    return peer


def _trusting(authorities: list[Path]) -> ssl.SSLContext:
    context = ssl.create_default_context()
    for authority in authorities:
        context.load_verify_locations(authority)
    return context


def _port_ranges(count: int) -> tuple[int, int]:
    """Return two ports, each followed by further unused ones if a cluster needs them."""
    found = sorted(free_ports(2_000))
    starts = [
        port
        for at, port in enumerate(found)
        if found[at : at + count] == list(range(port, port + count))
    ]
    return starts[0], next(port for port in starts if port >= starts[0] + count)
