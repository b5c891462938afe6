"""Time, as the cluster sees it: one source, so that a run can be repeated or moved by hand."""

from collections.abc import Callable
from typing import Protocol

from kafka_shim.shim.timers import QueuedTimer, TimerQueue


class Timer(Protocol):
    """A call that can still be cancelled."""

    def cancel(self) -> None: ...


class Clock(Protocol):
    """Wall time in milliseconds, and calls after a while, which `fired_timers` counts."""

    fired_timers: int

    def now_ms(self) -> int: ...
    def now_us(self) -> int: ...
    def call_later(self, delay_ms: float, callback: Callable[[], None]) -> Timer: ...
    def call_after_wait(self, wait_ms: float, callback: Callable[[], None]) -> Timer:
        """Call back at the end of the time for which a client asks to wait, as in Fetch."""

    def start_early_timers(self) -> None: ...


class Deadline:
    """A timer that is restarted often, such as by heartbeats: it fires if it was not restarted for
    a time. A restart creates no new timer unless it must fire earlier.
    """

    __slots__ = ("_callback", "_clock", "_due_ms", "_fires_ms", "_timer")

    def __init__(self, clock: Clock, callback: Callable[[], None]) -> None:
        self._clock = clock
        self._callback = callback
        self._timer: Timer | None = None
        self._due_ms = self._fires_ms = 0.0

    def restart(self, delay_ms: float) -> None:
        """Call back after `delay_ms`, unless it is restarted or cancelled before."""
        self._due_ms = self._clock.now_ms() + delay_ms
        if self._timer is None or self._due_ms < self._fires_ms:
            self.cancel()
            self._set_timer(delay_ms)

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set_timer(self, delay_ms: float) -> None:
        self._fires_ms = self._due_ms
        self._timer = self._clock.call_later(delay_ms, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        left_ms = self._due_ms - self._clock.now_ms()
        if left_ms > 0:
            self._set_timer(left_ms)
        else:
            self._callback()


class ManualClock:
    """A clock that moves only when it is advanced; timers that become due fire in order."""

    def __init__(self, now_ms: int = 1_700_000_000_000) -> None:
        self.fired_timers = 0
        self._now_ms = now_ms
        self._timers = TimerQueue()

    def now_ms(self) -> int:
        return self._now_ms

    def now_us(self) -> int:
        return self._now_ms * 1_000

    def call_later(self, delay_ms: float, callback: Callable[[], None]) -> Timer:
        timer = QueuedTimer(self._timers, callback)
        self._timers.push(self._now_ms + max(0.0, delay_ms), timer)
        return timer

    call_after_wait = call_later

    def start_early_timers(self) -> None:
        """Do nothing; only `advance` fires timers."""

    def advance(self, by_ms: int) -> None:
        """Move time forward, firing what falls due at its own moment."""
        until_ms = self._now_ms + by_ms
        while (call := self._timers.pop_due(until_ms)) is not None:
            self._now_ms = max(self._now_ms, int(call.due))
            self.fired_timers += 1
            call.callback()
        self._now_ms = until_ms
        self.fired_timers += 1
