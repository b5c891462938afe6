"""What a row of the catalogue is, and what is found for it in a trace."""

from collections.abc import Callable, Iterable
from enum import Enum
from typing import TypeAlias

import msgspec

from shim.conformance.exchanges import Exchange

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
    """A behaviour with its status; the frames are those that failed, or the first that passed."""

    behaviour: Behaviour
    status: Status
    sights: int
    frames: tuple[str, ...]


def result(behaviour: Behaviour, seen: list[Exchange]) -> Result:
    """Look for one behaviour in a trace: a single wrong sight fails it."""
    sights = list(behaviour.look(seen))
    wrong = [one for one in sights if not one.right]
    shown = tuple(_frame(one) for one in (wrong or sights)[:FRAMES_SHOWN])
    if not sights:
        return Result(behaviour, Status.NOT_EXERCISED, 0, ())
    return Result(behaviour, Status.FAILED if wrong else Status.PASSED, len(sights), shown)


def _frame(one: Sight) -> str:
    return f"{one.exchange.name} ({one.note})" if one.note else one.exchange.name
