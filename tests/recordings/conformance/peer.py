"""What a broker is to a scenario, wherever it runs."""

from typing import Any, Final, Protocol

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.conformance.fitting import fit

ROOT: Final = "anonymous"
"""Sets scenarios up and cleans up after them; a super user, on the plaintext listener."""

CLIENT_ID: Final = "play"
"""Shows in member ids and in descriptions of groups."""

CLOSED: Final = {"closed": True}
SILENT: Final = {"silent": True}
WAITS: Final = {"waits": True}
PATIENCE_MS: Final = 4_000
"""After so long a request counts as waiting, and is given up."""


class Peer(Protocol):
    """A broker that can be asked as somebody: `anonymous` on a plaintext listener, others over
    SASL. An answer is a response, or one of CLOSED, SILENT (there is none) and WAITS.

    `begin` asks without waiting, at most once until `outcome` gives that answer.
    """

    def newest(self, api: ApiKey) -> int: ...
    def ask(self, user: str, api: ApiKey, version: int, request: Any) -> Any: ...
    def begin(self, user: str, api: ApiKey, version: int, request: Any) -> None: ...
    def outcome(self, user: str) -> Any: ...
    def now_ms(self) -> int: ...
    def pause(self, milliseconds: int) -> None: ...


def ask_root(peer: Peer, api: ApiKey, request: Any, at_most: int = 99) -> Any:
    """A response to the administrator, in the newest version there is."""
    version = min(at_most, peer.newest(api))
    answer = peer.ask(ROOT, api, version, fit(request, version))
    assert not isinstance(answer, dict), f"{api.wire_name} of the administrator: {answer}"
    return answer
