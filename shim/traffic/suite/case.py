"""One thing to find out about a client, and what came of it."""

from collections.abc import Awaitable, Callable
from enum import Enum
from typing import Any

import msgspec

from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.shim.traffic.suite.frames import Frame
from kafka_shim.shim.traffic.suite.situation import Situation
from kafka_shim.shim.traffic.suite.stages import DEFAULT_SETUP, Setup

Body = Callable[[Situation], Awaitable[None]]
Possible = Callable[[str], bool]


class Level(Enum):
    """How much it matters: a client that fails a MUST is wrong, one that fails a SHOULD is poor."""

    MUST = "must"
    SHOULD = "should"


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """`origin`: the KIP or the behaviour of brokers that it comes from.

    `answer` is what the driver is expected to say, `wire` what to be seen on the wire. `commands`
    and `capabilities` are those of the contract that it takes; `possible` tells whether a release
    can be brought into the situation, `is_real` whether a real broker can; `is_own`: only one that
    was started for the suite, whose operator it asks, or which takes tokens.
    """

    id: str
    what: str
    origin: str
    answer: str
    wire: str = ""
    body: Body
    commands: frozenset[str]
    capabilities: frozenset[str] = frozenset()
    level: Level = Level.MUST
    possible: Possible = lambda _: True
    setup: Setup = DEFAULT_SETUP
    is_real: bool = False
    is_own: bool = False

    @property
    def family(self) -> str:
        return self.id.partition(".")[0]

    @property
    def releases(self) -> str:
        """Such as `2.3 to 4.4`: the first and the last that can be brought into it."""
        found = [release for release in RELEASES if self.possible(release)]
        return found[0] if len(found) == 1 else f"{found[0]} to {found[-1]}"


class Family:
    """Cases of a kind, whose ids begin with its name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.cases: list[Case] = []

    def add(
        self,
        name: str,
        what: str,
        body: Body,
        *,
        commands: str,
        capabilities: str = "",
        **more: Any,
    ) -> None:
        """Add a case; `commands` and `capabilities` are words."""
        case = Case(
            id=f"{self.name}.{name}",
            what=what,
            body=body,
            commands=frozenset(commands.split()),
            capabilities=frozenset(capabilities.split()),
            **more,
        )
        self.cases.append(case)

    def case(self, name: str, what: str, **more: Any) -> Callable[[Body], Body]:
        """Decorate the body of a case."""

        def decorate(body: Body) -> Body:
            self.add(name, what, body, **more)
            return body

        return decorate


class Outcome(Enum):
    """How a case ended."""

    PASSED = "passed"
    FAILED = "failed"
    UNSUPPORTED = "unsupported"


class Result(msgspec.Struct, frozen=True):
    """`expected` and `done` tell a failure, `said` is what the driver said last; `frames` are the
    requests that show it.
    """

    case: Case
    release: str
    outcome: Outcome
    expected: str = ""
    done: str = ""
    said: str = ""
    frames: tuple[Frame, ...] = ()
    seconds: float = 0.0
    is_lost: bool = False
    """Whether the driver ended or hung, which no client may."""

    @property
    def breaks(self) -> bool:
        """Whether it makes the run fail."""
        return self.outcome is Outcome.FAILED and (self.case.level is Level.MUST or self.is_lost)
