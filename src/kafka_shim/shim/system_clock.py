"""The machine's time, and the timers of the running event loop."""

import asyncio
import time
from collections.abc import Callable

from kafka_shim.shim.clock import ManualClock, Timer
from kafka_shim.shim.timers import QueuedTimer, TimerQueue


class SystemClock:
    """A broker's clock unless its time is advanced manually.

    The event loop has one timer, for the first of them.
    """

    def __init__(self) -> None:
        self.fired_timers = 0
        self._timers = TimerQueue()
        self._timers_before_loop: list[tuple[float, QueuedTimer]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loop_timer: asyncio.TimerHandle | None = None
        self._is_closed = False

    def start_early_timers(self) -> None:
        """Start timers that were set before the event loop ran."""
        loop = asyncio.get_running_loop()
        early, self._timers_before_loop = self._timers_before_loop, []
        for delay_s, timer in early:
            self._timers.push(loop.time() + delay_s, timer)
        self._schedule_next_due_timer(loop)

    def now_us(self) -> int:
        return time.time_ns() // 1_000

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def call_later(self, delay_ms: float, callback: Callable[[], None]) -> Timer:
        timer = QueuedTimer(self._timers, callback)
        if self._is_closed:
            timer.callback = None
            return timer
        delay_s = max(0.0, delay_ms) / 1000
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # a broker is made before its loop runs
            self._timers_before_loop.append((delay_s, timer))
        else:
            self._timers.push(loop.time() + delay_s, timer)
            self._schedule_next_due_timer(loop)
        return timer

    call_after_wait = call_later

    def _schedule_next_due_timer(self, loop: asyncio.AbstractEventLoop) -> None:
        """Set the timer of the event loop, for when the first of ours is due."""
        due, alarm = self._timers.next_due_time(), self._loop_timer
        if loop is not self._loop:
            self._loop, alarm = loop, None
        if due is not None and (alarm is None or due < alarm.when()):
            if alarm is not None:
                alarm.cancel()
            self._loop_timer = loop.call_at(due, self._run_due_timers, due)

    def _run_due_timers(self, due: float) -> None:
        """Call the functions of timers that are due."""
        loop = asyncio.get_running_loop()
        until = max(due, loop.time())
        self._loop_timer = None
        try:
            while (call := self._timers.pop_due(until)) is not None:
                self.fired_timers += 1
                call.callback()
        finally:
            self._schedule_next_due_timer(loop)

    def close(self) -> None:
        """Cancel all timers, and those that are set later."""
        self._is_closed = True
        self._timers_before_loop.clear()
        self._timers.cancel_all()
        if self._loop_timer is not None:
            self._loop_timer.cancel()
            self._loop_timer = None


class ClientsManualClock(ManualClock):
    """The manual clock of a broker for clients, whose own time goes on.

    A Fetch that finds nothing ends after its wait, as clients send nothing else before that.
    """

    def __init__(self) -> None:
        super().__init__(time.time_ns() // 1_000_000)

    def call_after_wait(self, wait_ms: float, callback: Callable[[], None]) -> Timer:
        """Call back when the time has passed by this clock, or by the machine's."""
        timers: list[Timer] = []

        def end_wait() -> None:
            for timer in timers:
                timer.cancel()
            self.fired_timers += 1
            callback()

        loop = asyncio.get_running_loop()
        timers += [self.call_later(wait_ms, end_wait), loop.call_later(wait_ms / 1000, end_wait)]
        return _Timers(timers)


class _Timers:
    """Timers that are cancelled together."""

    def __init__(self, timers: list[Timer]) -> None:
        self._timers = timers

    def cancel(self) -> None:
        for timer in self._timers:
            timer.cancel()
