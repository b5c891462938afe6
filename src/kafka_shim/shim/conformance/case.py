"""A case, which is one check of a client, and its result."""

from collections.abc import Awaitable, Callable
from enum import Enum
from typing import Any

import msgspec

from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.shim.conformance.case_context import CaseContext
from kafka_shim.shim.conformance.fixtures import DEFAULT_SETUP, Setup
from kafka_shim.shim.conformance.frames import Frame

Body = Callable[[CaseContext], Awaitable[None]]
Possible = Callable[[str], bool]


class Level(Enum):
    """How much a failure matters: MUST is an error of the client, SHOULD is a weakness."""

    MUST = "must"
    SHOULD = "should"


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """A check of a client.

    `what` is its title. `origin` is the KIP that it comes from, or a behaviour of brokers. `answer`
    is the expected answer of the driver, and `wire` what is expected in the requests; both are
    texts for reports. `commands` and `capabilities` are those of the contract that the case uses; a
    driver without one of them is reported as unsupported. `possible` returns whether the case can
    run with a release, and `is_real` is true if it can run on a real broker. `is_own`
    restricts that to real brokers that were started for the suite: the case stops brokers, moves
    leaders, or uses tokens.
    """

    id: str
    what: str
    origin: str
    response: str
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
        """Return the first and the last release that it can run with
        with, such as `2.3 to 4.4`.
        """
        found = [release for release in RELEASES if self.possible(release)]
        return found[0] if len(found) == 1 else f"{found[0]} to {found[-1]}"


class Family:
    """A group of cases with the same first word in their ids."""

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
        """Add a case; `commands` and `capabilities` are separated by spaces."""
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
        """Return a decorator that adds a case with the function as its body."""

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
    """The result of a case with a release.

    For a failed case, `expected` and `done` say what was expected and what the client did instead.
    For an unsupported case, `done` names what is missing. `said` is the driver's last answer, and
    `frames` are the requests that show the result.
    """

    case: Case
    release: str
    outcome: Outcome
    expected: str = ""
    done: str = ""
    said: str = ""
    frames: tuple[Frame, ...] = ()
    responses: frozenset[str] = frozenset()
    """All different responses to the client, as API, version and errors."""
    seconds: float = 0.0
    is_lost: bool = False
    """Whether the driver ended or did not answer in time."""

    @property
    def breaks(self) -> bool:
        """Whether the run fails because of it."""
        return self.outcome is Outcome.FAILED and (self.case.level is Level.MUST or self.is_lost)
