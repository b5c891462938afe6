"""Connects to real brokers that have just been started."""

import ssl
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from tests.oracle.real_kafka import RealKafka
from tests.recordings.peers.socket_peer import SocketPeer
from tests.recordings.peers.warming import warm

START_SECONDS = 60


@contextmanager
def connected(
    release: str,
    plain: str,
    sasl: str,
    *,
    client_id: str = "",
    tls: ssl.SSLContext | None = None,
    warms: bool = True,
) -> Iterator[SocketPeer]:
    """Connect to a broker at two addresses; yield it when it and its coordinators respond.

    Without `warms`, the coordinators may be other brokers.
    """
    peer = _answering(release, plain, sasl, client_id, tls)
    try:
        if warms:
            warm(peer)
        yield peer
    finally:
        peer.close()


def real(kafka: RealKafka) -> AbstractContextManager[SocketPeer]:
    """Connect to a running real broker; client ids are the names of connections."""
    return connected(kafka.release, kafka.plain, kafka.sasl)


def _answering(
    release: str, plain: str, sasl: str, client_id: str, tls: ssl.SSLContext | None
) -> SocketPeer:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            return SocketPeer(release, plain, sasl, client_id=client_id, tls=tls)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
