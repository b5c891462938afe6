"""The machine's time, and the timers of the running event loop."""

import asyncio
import time
from collections.abc import Callable
from weakref import WeakValueDictionary

from kafka_shim.shim.clock import Timer


class SystemClock:
    """What a broker goes by unless its time is moved by hand."""

    def now_us(self) -> int:
        return time.time_ns() // 1_000

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def call_later(self, delay_ms: float, callback: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(max(0.0, delay_ms) / 1000, callback)


class EndingClock(SystemClock):
    """The machine's time for a broker that may end before the event loop does."""

    def __init__(self) -> None:
        self._timers: WeakValueDictionary[int, asyncio.TimerHandle] = WeakValueDictionary()
        self._is_closed = False

    def call_later(self, delay_ms: float, callback: Callable[[], None]) -> Timer:
        timer = asyncio.get_running_loop().call_later(max(0.0, delay_ms) / 1000, callback)
        if self._is_closed:
            timer.cancel()
        self._timers[id(timer)] = timer  # the loop lets go of it once it has fired
        return timer

    def close(self) -> None:
        """Cancel all timers, and those that are set later."""
        self._is_closed = True
        for timer in list(self._timers.values()):
            timer.cancel()
