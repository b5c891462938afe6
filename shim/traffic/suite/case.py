"""One thing to find out about a client, and what came of it."""

from collections.abc import Awaitable, Callable
from enum import Enum

import msgspec

from kafka_shim.shim.traffic.suite.situation import Situation


class Level(Enum):
    """How much it matters: a client that fails a MUST is wrong, one that fails a SHOULD is poor."""

    MUST = "must"
    SHOULD = "should"


class Case(msgspec.Struct, frozen=True):
    """`origin`: the KIP or the behaviour of brokers that it comes from.

    `commands` and `capabilities` are those of the contract that it takes; `possible` tells whether
    a release can be brought into the situation.
    """

    id: str
    what: str
    origin: str
    body: Callable[[Situation], Awaitable[None]]
    commands: frozenset[str]
    capabilities: frozenset[str] = frozenset()
    level: Level = Level.MUST
    possible: Callable[[str], bool] = lambda _: True


class Outcome(Enum):
    """How a case ended."""

    PASSED = "passed"
    FAILED = "failed"
    UNSUPPORTED = "unsupported"


class Result(msgspec.Struct, frozen=True):
    """`expected` and `done` tell a failure; `frames` are the requests that show it."""

    case: Case
    release: str
    outcome: Outcome
    expected: str = ""
    done: str = ""
    frames: tuple[str, ...] = ()
    seconds: float = 0.0
    is_lost: bool = False
    """Whether the driver ended or hung, which no client may."""

    @property
    def breaks(self) -> bool:
        """Whether it makes the run fail."""
        return self.outcome is Outcome.FAILED and (self.case.level is Level.MUST or self.is_lost)
