"""A broker as scenarios use it, in this process or elsewhere."""

from collections.abc import Callable
from typing import Any, Final, Protocol

from kafka_shim.protocol.api_versions import parse_release, served
from kafka_shim.protocol.enums import ApiKey
from tests.recordings.fitting import fit

ROOT: Final = "anonymous"
"""The connection that sets scenarios up and cleans up after them."""

CLOSED: Final = "closed"
SILENT: Final = "silent"
"""The request has no answer, and the connection is still open."""
WAITS: Final = "waits"
UNREADABLE: Final = "no answer"

PATIENCE_MS: Final = 4_000
"""After so long a request counts as waiting."""


class Peer(Protocol):
    """A broker with a connection for each name.

    A connection named after a user (`alice`, `alice/2`) logs in as that user; every other is a
    super user's, by the plaintext listener. An answer is a response, or CLOSED, SILENT, WAITS or
    UNREADABLE.
    """

    release: str

    def send(self, connection: str, api: ApiKey, version: int, request: Any) -> None: ...
    def receive(self, connection: str, patience_ms: int = PATIENCE_MS) -> Any: ...
    def hang_up(self, connection: str) -> None: ...
    def now_ms(self) -> int: ...
    def pause(self, milliseconds: int) -> None: ...

    def compact(self, topic: str, roll: Callable[[], None]) -> None:
        """Have partition 0 of a topic cleaned; `roll` begins a new segment."""


def ask(
    peer: Peer,
    connection: str,
    api: ApiKey,
    version: int,
    request: Any,
    patience_ms: int = PATIENCE_MS,
) -> Any:
    """Return the answer to a request; the connection is closed if it still waits."""
    peer.send(connection, api, version, request)
    answer = peer.receive(connection, patience_ms)
    if answer == WAITS:
        peer.hang_up(connection)
    return answer


def ask_root(peer: Peer, api: ApiKey, request: Any, at_most: int = 99) -> Any:
    """Return the response to the administrator, in the newest version that is served."""
    version = min(at_most, versions(peer.release, api)[-1])
    answer = ask(peer, ROOT, api, version, fit(request, version))
    assert not isinstance(answer, str), f"{api.wire_name} of the administrator: {answer}"
    return answer


def versions(release: str, api: ApiKey) -> range:
    """Return the versions that a full release serves; 4.0.0 refused the oldest of JoinGroup."""
    ranges = served(parse_release(release))
    if api not in ranges:
        return range(0)
    low, high = ranges[api]
    if release == "4.0.0" and api is ApiKey.JOIN_GROUP:
        low = 2
    return range(low, high + 1)
