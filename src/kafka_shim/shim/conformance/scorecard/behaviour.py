"""Rows of the catalogue of behaviours, and their results for a trace."""

from collections.abc import Callable, Iterable
from enum import Enum
from typing import TypeAlias

import msgspec

from kafka_shim.shim.conformance.scorecard.denials import Decisions, Denial
from kafka_shim.shim.conformance.scorecard.exchanges import Exchange

FRAMES_SHOWN = 5


class Sight(msgspec.Struct, frozen=True):
    """An occurrence of a behaviour: right or wrong, the exchange, and a note."""

    right: bool
    exchange: Exchange
    note: str = ""


Look: TypeAlias = Callable[[list[Exchange]], Iterable[Sight]]


class Behaviour(msgspec.Struct, frozen=True):
    """A row of the catalogue; `seen` says how the behaviour is detected."""

    id: str
    text: str
    kip: int | None
    seen: str
    look: Look


class Status(Enum):
    """The result of a behaviour in a trace."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_EXERCISED = "not exercised"


class Result(msgspec.Struct, frozen=True):
    """A behaviour with its status; frames are those that failed, or the first that passed.

    `hindrance` is a denial that prevented the behaviour.
    """

    behaviour: Behaviour
    status: Status
    sights: int
    frames: tuple[str, ...]
    hindrance: Denial | None = None


def score(behaviour: Behaviour, seen: list[Exchange], decisions: Decisions) -> Result:
    """Evaluate a behaviour in a trace; a single wrong occurrence fails it."""
    sights = list(behaviour.look(seen))
    wrong = [sight for sight in sights if not sight.right]
    frames = tuple(_frame(sight) for sight in (wrong or sights)[:FRAMES_SHOWN])
    if not sights:
        return Result(behaviour, Status.NOT_EXERCISED, 0, (), decisions.hindering(behaviour.id))
    return Result(behaviour, Status.FAILED if wrong else Status.PASSED, len(sights), frames)


def _frame(sight: Sight) -> str:
    return f"{sight.exchange.name} ({sight.note})" if sight.note else sight.exchange.name
