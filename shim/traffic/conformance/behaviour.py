"""What a row of the catalogue is, and what is found for it in a trace."""

from collections.abc import Callable, Iterable
from enum import Enum
from typing import TypeAlias

import msgspec

from kafka_shim.shim.traffic.conformance.denials import Decisions, Denial
from kafka_shim.shim.traffic.conformance.exchanges import Exchange

FRAMES_SHOWN = 5


class Sight(msgspec.Struct, frozen=True):
    """One place where a behaviour is seen: right or wrong, by which exchange, and a word on it."""

    right: bool
    exchange: Exchange
    note: str = ""


Look: TypeAlias = Callable[[list[Exchange]], Iterable[Sight]]


class Behaviour(msgspec.Struct, frozen=True):
    """A row of the catalogue. `seen` says in words how it is seen on the wire."""

    id: str
    text: str
    kip: int | None
    seen: str
    look: Look


class Status(Enum):
    """What a trace says of a behaviour."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_EXERCISED = "not exercised"


class Result(msgspec.Struct, frozen=True):
    """A behaviour with its status; the frames are those that failed, or the first that passed.

    `hindrance` is a denial that kept the client from it.
    """

    behaviour: Behaviour
    status: Status
    sights: int
    frames: tuple[str, ...]
    hindrance: Denial | None = None


def score(behaviour: Behaviour, seen: list[Exchange], decisions: Decisions) -> Result:
    """Look for one behaviour in a trace: a single wrong sight fails it."""
    sights = list(behaviour.look(seen))
    wrong = [sight for sight in sights if not sight.right]
    shown = tuple(_frame(sight) for sight in (wrong or sights)[:FRAMES_SHOWN])
    if not sights:
        return Result(behaviour, Status.NOT_EXERCISED, 0, (), decisions.hindering(behaviour.id))
    return Result(behaviour, Status.FAILED if wrong else Status.PASSED, len(sights), shown)


def _frame(sight: Sight) -> str:
    return f"{sight.exchange.name} ({sight.note})" if sight.note else sight.exchange.name
