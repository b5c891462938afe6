"""The machine's time, and the timers of the running event loop."""

import asyncio
import time
from collections.abc import Callable
from weakref import WeakValueDictionary

from kafka_shim.shim.clock import Timer


class _EarlyTimer:
    """Set before an event loop runs; counts from its `begin`."""

    def __init__(self, delay_s: float, callback: Callable[[], None]) -> None:
        self._delay_s = delay_s
        self._callback = callback
        self._is_cancelled = False
        self._timer: Timer | None = None

    def begin(self) -> None:
        if not self._is_cancelled:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._delay_s, self._callback)

    def cancel(self) -> None:
        self._is_cancelled = True
        if self._timer is not None:
            self._timer.cancel()


class SystemClock:
    """What a broker goes by unless its time is moved by hand."""

    def __init__(self) -> None:
        self.fired = 0
        self._early: list[_EarlyTimer] = []

    def begin(self) -> None:
        """The event loop runs: timers that were set before it count from now."""
        early, self._early = self._early, []
        for timer in early:
            timer.begin()

    def now_us(self) -> int:
        return time.time_ns() // 1_000

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def call_later(self, delay_ms: float, callback: Callable[[], None]) -> Timer:
        delay_s = max(0.0, delay_ms) / 1000

        def fire() -> None:
            self.fired += 1
            callback()

        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # a broker is made before its loop runs
            timer = _EarlyTimer(delay_s, fire)
            self._early.append(timer)
            return timer
        return loop.call_later(delay_s, fire)


class EndingClock(SystemClock):
    """The machine's time for a broker that may end before the event loop does."""

    def __init__(self) -> None:
        super().__init__()
        self._timers: WeakValueDictionary[int, Timer] = WeakValueDictionary()
        self._is_closed = False

    def call_later(self, delay_ms: float, callback: Callable[[], None]) -> Timer:
        timer = super().call_later(delay_ms, callback)
        if self._is_closed:
            timer.cancel()
        self._timers[id(timer)] = timer  # the loop lets go of it once it has fired
        return timer

    def close(self) -> None:
        """Cancel all timers, and those that are set later."""
        self._is_closed = True
        for timer in list(self._timers.values()):
            timer.cancel()
