"""Records which large frames real brokers accept, one file per release."""

import socket
from collections.abc import Collection
from contextlib import nullcontext
from pathlib import Path
from typing import Final, Protocol

from tests.recordings.frame_limits.scenarios import SCENARIOS
from tests.recordings.recorder import Kind
from tests.recordings.store import Recordings, Steps
from tests.support.commands import split
from tests.support.frames import sized

CLOSED, RESPONDED = "closed", "responded"
_PATIENCE_S: Final = 60


class Peer(Protocol):
    """A broker with a listener without authentication."""

    @property
    def plain(self) -> str: ...


def played(name: str, peer: Peer) -> Steps:
    """Return whether the broker responds to the frame or closes the connection."""
    frame = SCENARIOS[name]()
    with socket.create_connection(split(peer.plain), _PATIENCE_S) as connection:
        try:
            connection.sendall(sized(frame))
            first = connection.recv(4)
        except ConnectionError:
            first = b""
    return [("outcome", RESPONDED if first else CLOSED)]


def scenarios(_: str) -> Collection[str]:
    """Return the names of all scenarios."""
    return list(SCENARIOS)


KIND = Kind(
    Recordings(Path(__file__).parent / "recorded", ".json"),
    scenarios,
    played,
    connect=nullcontext,
)
