"""Plays cases, each on an empty broker; several drivers can play at the same time."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from functools import partial

from kafka_shim.shim.traffic.suite.case import Case, Outcome, Result
from kafka_shim.shim.traffic.suite.driver import ContractError, Driver, SilenceError
from kafka_shim.shim.traffic.suite.frames import TEXT_MAX
from kafka_shim.shim.traffic.suite.situation import (
    Situation,
    UnmetError,
    UnsupportedError,
)
from kafka_shim.shim.traffic.suite.stages import Places, Stages

Told = Callable[[Result], None]


def chosen(cases: Iterable[Case], patterns: Sequence[str]) -> list[Case]:
    """Return the cases whose id matches a pattern such as `denials.*`; all without patterns."""
    wanted = patterns or ["*"]
    return [case for case in cases if any(fnmatchcase(case.id, pattern) for pattern in wanted)]


async def play(
    words: Sequence[str],
    cases: Sequence[Case],
    release: str,
    told: Told,
    *,
    jobs: int = 1,
    places: Callable[[], Places] | None = None,
) -> str:
    """Play the cases of a release; return the driver's name and version.

    `told` is called with each result. `jobs` drivers play at the same time, each with its own
    `places` (None: shims). Raise ConfigError if the command is not a driver. A driver that ends or
    hangs fails the case, and is restarted for the next one.
    """
    left = deque(case for case in cases if case.possible(release))
    made = places or partial(Stages, release)
    players = [_Player(words, release, made) for _ in range(max(1, min(jobs, len(left))))]
    tasks = [asyncio.ensure_future(player.play(left, told)) for player in players]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return players[0].name


class _Player:
    """A driver with its own brokers."""

    def __init__(self, words: Sequence[str], release: str, places: Callable[[], Places]) -> None:
        self._words = words
        self._places = places
        self._release = release
        self.name = ""

    async def play(self, left: deque[Case], told: Told) -> None:
        driver = await Driver.start(self._words)
        self.name = f"{driver.name} {driver.version}".strip()
        places = self._places()
        try:
            while left:
                case = left.popleft()
                result, is_usable = await self._result(case, places, driver)
                if not is_usable:
                    await driver.stop()
                    driver = await Driver.start(self._words)
                told(result)
        finally:
            await driver.stop()
            await places.stop()

    async def _result(self, case: Case, places: Places, driver: Driver) -> tuple[Result, bool]:
        """Play a case; return its result, and whether the driver can still be used."""
        lacking = driver.lacks(case.commands, case.capabilities)
        if lacking:
            return Result(case, self._release, Outcome.UNSUPPORTED, done=lacking), True
        place = await places.place(case.setup, case.id)
        situation = Situation(place, driver, places.authority)
        began = time.monotonic()
        outcome, expected, done, is_usable = Outcome.PASSED, "", "", True
        try:
            await case.body(situation)
            await situation.close()
        except UnsupportedError as error:
            outcome, done = Outcome.UNSUPPORTED, f"`{error}` with the fields of this case"
        except UnmetError as unmet:
            outcome, expected, done = Outcome.FAILED, unmet.expected, unmet.done
        except (ContractError, SilenceError) as error:
            outcome, expected, done = Outcome.FAILED, "an answer of the driver", str(error)
            is_usable = False
        if outcome is not Outcome.PASSED and is_usable:
            is_usable = await _closes(situation)
        result = Result(
            case,
            self._release,
            outcome,
            expected,
            _short(done),
            "" if situation.said is None else _short(str(situation.said)),
            () if outcome is Outcome.UNSUPPORTED else situation.shown(),
            situation.responses(),
            time.monotonic() - began,
            not is_usable,
        )
        return result, is_usable


def _short(text: str) -> str:
    """Shorten a driver's answer, which may contain records of 10 MB."""
    return text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}…"


async def _closes(situation: Situation) -> bool:
    try:
        await situation.close()
    except (ContractError, SilenceError):
        return False
    return True
