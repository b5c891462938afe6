"""Rows of the catalogue of behaviours, and their results for a trace."""

from collections.abc import Callable, Iterable
from enum import Enum
from typing import TypeAlias

import msgspec

from kafka_shim.conformance import RequirementLevel
from kafka_shim.conformance.scorecard.denials import Decisions, Denial
from kafka_shim.conformance.scorecard.exchanges import Exchange

FRAMES_SHOWN = 5


class Occurrence(msgspec.Struct, frozen=True):
    """An occurrence of a behaviour: right or wrong, the exchange, and a note."""

    is_right: bool
    exchange: Exchange
    note: str = ""


OccurrenceFinder: TypeAlias = Callable[[list[Exchange]], Iterable[Occurrence]]


class Behaviour(msgspec.Struct, frozen=True):
    """A row of the catalogue; `detection` says how the behaviour is detected."""

    id: str
    text: str
    kip: int | None
    detection: str
    find_occurrences: OccurrenceFinder
    level: RequirementLevel = RequirementLevel.MUST
    """SHOULD: another client is free to choose, such as a default of Kafka's Java client."""


class BehaviourStatus(Enum):
    """The result of a behaviour in a trace."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_EXERCISED = "not exercised"


class BehaviourResult(msgspec.Struct, frozen=True):
    """A behaviour with its status; frames are those that failed, or the first that passed.

    `preventing_denial` is a denial that prevented the behaviour.
    """

    behaviour: Behaviour
    status: BehaviourStatus
    occurrences: int
    frames: tuple[str, ...]
    preventing_denial: Denial | None = None

    @property
    def fails_run(self) -> bool:
        """Return whether the client is wrong: a behaviour of level MUST failed."""
        return (
            self.status is BehaviourStatus.FAILED and self.behaviour.level is RequirementLevel.MUST
        )


def evaluate_behaviour(
    behaviour: Behaviour, exchanges: list[Exchange], decisions: Decisions
) -> BehaviourResult:
    """Evaluate a behaviour in a trace; a single wrong occurrence fails it."""
    occurrences = list(behaviour.find_occurrences(exchanges))
    wrong = [occurrence for occurrence in occurrences if not occurrence.is_right]
    frames = tuple(
        _exchange_with_note(occurrence) for occurrence in (wrong or occurrences)[:FRAMES_SHOWN]
    )
    if not occurrences:
        return BehaviourResult(
            behaviour,
            BehaviourStatus.NOT_EXERCISED,
            0,
            (),
            decisions.find_preventing_denial(behaviour.id),
        )
    return BehaviourResult(
        behaviour,
        BehaviourStatus.FAILED if wrong else BehaviourStatus.PASSED,
        len(occurrences),
        frames,
    )


def _exchange_with_note(occurrence: Occurrence) -> str:
    return (
        f"{occurrence.exchange.name_text} ({occurrence.note})"
        if occurrence.note
        else occurrence.exchange.name_text
    )
