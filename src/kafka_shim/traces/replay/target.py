"""The target of a replay, and its options."""

from collections.abc import Mapping
from enum import Enum
from pathlib import Path

import msgspec

from kafka_shim.client.config import PLAINTEXT, ClientConfig


class OnUnreplayableRequest(Enum):
    """What to do about requests that cannot be replayed or get no response."""

    FAIL = "fail"
    SKIP = "skip"
    RECORD = "record"


class UnreplayableRequestError(Exception):
    """A request cannot be replayed, and the replay is configured to stop then."""


class Target(msgspec.Struct, frozen=True):
    """The target of a replay.

    `routes` are addresses for recorded listeners and broker ids, `address` is for all others.
    `speed` None means without pauses. `replays_authentication` False skips recorded logins, for a
    target without SASL. `record` is a folder for a trace of the replay. `config` has the settings
    for TLS, and the user of connections that the recorded client did not authenticate.
    """

    address: tuple[str, int]
    routes: Mapping[str, tuple[str, int]] = {}
    users: Mapping[str, str] = {}
    speed: float | None = None
    timeout_s: float = 15.0
    on_miss: OnUnreplayableRequest = OnUnreplayableRequest.FAIL
    replays_authentication: bool = True
    ignored: frozenset[str] = frozenset()
    record: Path | None = None
    config: ClientConfig = PLAINTEXT
