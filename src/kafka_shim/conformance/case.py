"""A case, which is one check of a client, and its result."""

from collections.abc import Awaitable, Callable
from enum import Enum
from typing import Any

import msgspec

from kafka_shim.conformance import RequirementLevel
from kafka_shim.conformance.case_context import CaseContext
from kafka_shim.conformance.fixtures import DEFAULT_SETUP, ClusterSetup
from kafka_shim.conformance.frames import ReportedExchange
from kafka_shim.protocol.api_versions import RELEASES

CaseBody = Callable[[CaseContext], Awaitable[None]]
ReleasePredicate = Callable[[str], bool]


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """A check of a client.

    `origin` is the KIP that the case comes from, or a behaviour of brokers. `expected_response` of
    the driver and `expected_requests` of the client are texts for reports. `commands` and
    `capabilities` are those of the contract that the case uses; a driver without one of them is
    reported as unsupported. `supports_release` returns whether the case can run with a release.
    `needs_cluster_control`: the case runs on real brokers, but only on those that were started for
    the suite, since it stops brokers, moves leaders, or uses tokens.
    """

    id: str
    title: str
    origin: str
    expected_response: str = "ok"
    expected_requests: str = ""
    body: CaseBody
    commands: frozenset[str]
    capabilities: frozenset[str] = frozenset()
    level: RequirementLevel = RequirementLevel.MUST
    supports_release: ReleasePredicate = lambda _: True
    setup: ClusterSetup = DEFAULT_SETUP
    runs_on_real_cluster: bool = False
    needs_cluster_control: bool = False

    @property
    def family_name(self) -> str:
        return self.id.partition(".")[0]

    @property
    def release_range(self) -> str:
        """Return the first and the last release that the case supports, such as `2.3 to 4.4`."""
        releases = [release for release in RELEASES if self.supports_release(release)]
        return releases[0] if len(releases) == 1 else f"{releases[0]} to {releases[-1]}"


class CaseFamily:
    """A group of cases with the same first word in their ids."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.cases: list[Case] = []

    def add_case(
        self,
        name: str,
        title: str,
        body: CaseBody,
        *,
        commands: str,
        capabilities: str = "",
        **case_fields: Any,
    ) -> None:
        """Add a case; `commands` and `capabilities` are separated by spaces."""
        if case_fields.get("needs_cluster_control"):
            case_fields["runs_on_real_cluster"] = True
        case = Case(
            id=f"{self.name}.{name}",
            title=title,
            body=body,
            commands=frozenset(commands.split()),
            capabilities=frozenset(capabilities.split()),
            **case_fields,
        )
        self.cases.append(case)

    def case(self, name: str, title: str, **case_fields: Any) -> Callable[[CaseBody], CaseBody]:
        """Return a decorator that adds a case with the function as its body."""

        def decorate(body: CaseBody) -> CaseBody:
            self.add_case(name, title, body, **case_fields)
            return body

        return decorate


class CaseOutcome(Enum):
    """How a case ended."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_EXERCISED = "not exercised"
    """The client did not meet what the case is about; neither right nor wrong."""
    UNSUPPORTED = "unsupported"


class CaseResult(msgspec.Struct, frozen=True):
    """The result of a case with a release.

    For a failed case, `expected` and `observed` say what was expected and what the client did
    instead; for an unsupported case or one that was not exercised, `observed` says what is missing.
    `last_response` is the driver's, and `frames` are the requests that show the result.
    """

    case: Case
    release: str
    outcome: CaseOutcome
    expected: str = ""
    observed: str = ""
    last_response: str = ""
    frames: tuple[ReportedExchange, ...] = ()
    distinct_responses: frozenset[str] = frozenset()
    """All different responses to the client, as API, version and errors."""
    seconds: float = 0.0
    driver_is_lost: bool = False
    """Whether the driver ended or did not answer in time."""

    @property
    def fails_run(self) -> bool:
        """Return whether the result makes the whole run fail."""
        return self.outcome is CaseOutcome.FAILED and (
            self.case.level is RequirementLevel.MUST or self.driver_is_lost
        )
