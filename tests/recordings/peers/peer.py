"""The interface of brokers that scenarios run on, in this process or elsewhere."""

from collections.abc import Callable
from functools import cache
from typing import Any, Final, Protocol

from kafka_shim.client.version_fields import reset_unsupported_fields
from kafka_shim.protocol.api_versions import parse_minor_release, served_versions
from kafka_shim.protocol.enums import ApiKey

ROOT: Final = "anonymous"
"""The connection that prepares scenarios and cleans up after them."""

CLOSED: Final = "closed"
SILENT: Final = "silent"
"""The outcome of a request without a response, if the connection is still open."""
WAITS: Final = "waits"
UNREADABLE: Final = "no answer"

PATIENCE_MS: Final = 4_000
"""Time after which a request without a response has the outcome WAITS."""


class Peer(Protocol):
    """A broker with a connection for each name.

    A connection named after a user (`alice`, `alice/2`) logs in as that user; all others use the
    plaintext listener as a super user. `receive` returns a response, or CLOSED, SILENT, WAITS or
    UNREADABLE.
    """

    release: str
    takes_effect_later: bool
    """Whether a change may be seen a moment after its response, as on real brokers."""

    def send(self, connection: str, api: ApiKey, version: int, request: Any) -> None: ...
    def receive(self, connection: str, patience_ms: int = PATIENCE_MS) -> Any: ...
    def hang_up(self, connection: str) -> None: ...
    def now_ms(self) -> int: ...
    def pause(self, milliseconds: int) -> None: ...

    def use_token(self, connection: str, token_id: str, hmac: bytes) -> None:
        """Let this connection, if it is not open yet, log in with a delegation token."""

    def compact(self, topic: str, roll: Callable[[], None]) -> None:
        """Compact partition 0 of a topic; `roll` begins a new segment."""


def ask(
    peer: Peer,
    connection: str,
    api: ApiKey,
    version: int,
    request: Any,
    patience_ms: int = PATIENCE_MS,
) -> Any:
    """Send a request, return the outcome; close the connection if there is no response in time."""
    peer.send(connection, api, version, request)
    response = peer.receive(connection, patience_ms)
    if response == WAITS:
        peer.hang_up(connection)
    return response


def ask_root(peer: Peer, api: ApiKey, request: Any, at_most: int = 99) -> Any:
    """Send a request as the administrator in the newest version; return the response."""
    version = min(at_most, versions(peer.release, api)[-1])
    response = ask(peer, ROOT, api, version, reset_unsupported_fields(request, version))
    assert not isinstance(response, str), f"{api.wire_name} of the administrator: {response}"
    return response


@cache
def versions(release: str, api: ApiKey) -> range:
    """Return the versions that a release with its patch supports: 4.0.0 lacks old JoinGroups."""
    ranges = served_versions(parse_minor_release(release))
    if api not in ranges:
        return range(0)
    low, high = ranges[api]
    if release == "4.0.0" and api is ApiKey.JOIN_GROUP:
        low = 2
    return range(low, high + 1)
