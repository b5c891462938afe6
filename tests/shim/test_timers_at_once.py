"""Timers that are due at the same moment, and periodic work."""

import asyncio
import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from kafka_shim.shim.clock import Clock, ManualClock, Timer
from kafka_shim.shim.state.periodic_work import PeriodicWork
from kafka_shim.shim.system_clock import SystemClock


def fired(begin: Callable[[Clock, list[str]], None]) -> list[str]:
    """Return what timers of a system clock do, in order."""
    seen: list[str] = []

    async def run() -> None:
        begin(SystemClock(), seen)
        time.sleep(0.002)  # noqa: ASYNC251 - all timers are due in one iteration
        for _ in range(3):
            await asyncio.sleep(0)

    asyncio.run(run(), debug=False)
    return seen


def test_timers_that_are_due_at_once_fire_in_order() -> None:
    def begin(clock: Clock, seen: list[str]) -> None:
        for number in range(20):
            clock.call_later(1, partial(seen.append, str(number)))

    assert fired(begin) == [str(number) for number in range(20)]


def test_a_due_timer_can_be_cancelled_by_another_one() -> None:
    def begin(clock: Clock, seen: list[str]) -> None:
        timers: list[Timer] = []

        def cancel() -> None:
            timers[0].cancel()

        clock.call_later(1, cancel)
        clock.call_later(1, lambda: seen.append("second"))
        timers.append(clock.call_later(1, lambda: seen.append("last")))

    assert fired(begin) == ["second"]


def test_a_failing_timer_does_not_stop_the_others(caplog: pytest.LogCaptureFixture) -> None:
    def begin(clock: Clock, seen: list[str]) -> None:
        clock.call_later(1, lambda: seen.remove("nothing"))
        clock.call_later(1, lambda: seen.append("second"))

    assert fired(begin) == ["second"]
    assert "ValueError" in caplog.text


class Work:
    """Rounds over some items; a round ends with the last one."""

    def __init__(self, clock: ManualClock, items: int) -> None:
        self.left = items
        self.seen: list[str] = []
        self.rounds = PeriodicWork(clock, lambda: 1000, self._round)

    def _round(self) -> Iterator[bool]:
        for number in range(self.left):
            self.seen.append(str(number))
            yield number < self.left - 1


def test_a_round_is_followed_by_the_next_one_while_something_is_left() -> None:
    clock = ManualClock(0)
    work = Work(clock, 5)
    work.rounds.ensure_round_scheduled()
    clock.advance(1000)
    assert work.seen == ["0", "1", "2", "3", "4"]
    work.left = 1
    clock.advance(1000)
    assert work.seen[5:] == ["0"]
    clock.advance(5000)
    assert work.seen[6:] == []


def test_stopped_work_begins_no_further_round() -> None:
    clock = ManualClock(0)
    work = Work(clock, 5)
    work.rounds.ensure_round_scheduled()
    clock.call_later(1500, work.rounds.stop_timer)
    clock.advance(5000)
    assert work.seen == ["0", "1", "2", "3", "4"]
