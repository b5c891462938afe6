"""Where a replay goes, and how."""

from collections.abc import Mapping
from enum import Enum
from pathlib import Path

import msgspec


class OnMiss(Enum):
    """What to do about a request that cannot be replayed, or is not answered."""

    FAIL = "fail"
    SKIP = "skip"
    RECORD = "record"


class MissError(Exception):
    """Something cannot be replayed, and it was asked to stop then."""


class Target(msgspec.Struct, frozen=True):
    """Where to, and how. `routes` are addresses for recorded listeners and broker ids, `address` is
    for all others.

    `speed` None is as fast as it goes. `logs_in` False leaves the recorded log-ins out, for a
    target that has none. `record` is a folder for a trace of the replay itself.
    """

    address: tuple[str, int]
    routes: Mapping[str, tuple[str, int]] = {}
    users: Mapping[str, str] = {}
    speed: float | None = None
    timeout_s: float = 15.0
    on_miss: OnMiss = OnMiss.FAIL
    logs_in: bool = True
    ignored: frozenset[str] = frozenset()
    record: Path | None = None
