"""The machine's time, and the timers of the running event loop."""

import asyncio
import time
from collections.abc import Callable

from kafka_shim.shim.clock import SLICE_S, Timer
from kafka_shim.shim.timers import SetTimer, Timers


class SystemClock:
    """A broker's clock unless its time is advanced manually.

    The functions of timers that are due at the same moment are called in turns, between which the
    event loop does other work. The loop itself has one timer, for the first of them.
    """

    def __init__(self) -> None:
        self.fired = 0
        self._timers = Timers()
        self._early: list[tuple[float, SetTimer]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._is_closed = False

    def begin(self) -> None:
        """Start timers that were set before the event loop ran."""
        loop = asyncio.get_running_loop()
        early, self._early = self._early, []
        for delay_s, timer in early:
            self._timers.put(loop.time() + delay_s, timer)
        self._set_alarm(loop)

    def now_us(self) -> int:
        return time.time_ns() // 1_000

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def call_later(self, delay_ms: float, callback: Callable[[], None]) -> Timer:
        timer = SetTimer(self._timers, callback)
        if self._is_closed:
            timer.callback = None
            return timer
        delay_s = max(0.0, delay_ms) / 1000
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # a broker is made before its loop runs
            self._early.append((delay_s, timer))
        else:
            self._timers.put(loop.time() + delay_s, timer)
            self._set_alarm(loop)
        return timer

    def _set_alarm(self, loop: asyncio.AbstractEventLoop) -> None:
        """Set the timer of the event loop, for when the first of ours is due."""
        due, alarm = self._timers.next_due(), self._alarm
        if loop is not self._loop:
            self._loop, alarm = loop, None
        if due is not None and (alarm is None or due < alarm.when()):
            if alarm is not None:
                alarm.cancel()
            self._alarm = loop.call_at(due, self._take_turn, due)

    def _take_turn(self, due: float) -> None:
        """Call the functions of timers that are due, for the length of a turn."""
        loop = asyncio.get_running_loop()
        until, ends_s = max(due, loop.time()), time.perf_counter() + SLICE_S
        self._alarm = None
        try:
            while (found := self._timers.take(until)) is not None:
                self.fired += 1
                found[1]()
                if time.perf_counter() >= ends_s:
                    break
        finally:
            self._set_alarm(loop)

    def close(self) -> None:
        """Cancel all timers, and those that are set later."""
        self._is_closed = True
        self._early.clear()
        self._timers.clear()
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
