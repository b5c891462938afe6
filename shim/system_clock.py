"""The machine's time, and the timers of the running event loop."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from contextvars import Context
from weakref import WeakValueDictionary

from kafka_shim.shim.clock import TURN_S, Timer


class _Timer:
    """Rings once. One that was set before an event loop runs counts from its `begin`."""

    __slots__ = ("__weakref__", "_callback", "_clock", "_delay_s", "_handle")

    def __init__(self, clock: "SystemClock", delay_s: float, callback: Callable[[], None]) -> None:
        self._clock = clock
        self._delay_s = delay_s
        self._callback: Callable[[], None] | None = callback
        self._handle: Timer | None = None

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._callback is not None:
            context = self._clock.context
            self._handle = loop.call_later(self._delay_s, self._ring, context=context)

    def cancel(self) -> None:
        self._callback = None
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None  # which leads back to this

    def fire(self) -> None:
        """Call the function, unless the timer was cancelled after it rang."""
        callback, self._callback = self._callback, None
        if callback is not None:
            self._clock.fired += 1
            callback()

    def _ring(self) -> None:
        self._handle = None
        self._clock.has_rung(self)


class SystemClock:
    """A broker's clock unless its time is advanced manually.

    The functions of timers that ring at the same moment are called in turns, between which the loop
    does other work.
    """

    def __init__(self) -> None:
        self.fired = 0
        self._early: list[_Timer] = []
        self._rung: deque[_Timer] = deque()
        self.context = Context()
        """Where timers ring: one for all, as each of its own is an object more to the garbage
        collector.
        """

    def begin(self) -> None:
        """Start timers that were set before the event loop ran."""
        early, self._early = self._early, []
        loop = asyncio.get_running_loop()
        for timer in early:
            timer.begin(loop)

    def now_us(self) -> int:
        return time.time_ns() // 1_000

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def call_later(self, delay_ms: float, callback: Callable[[], None]) -> Timer:
        timer = _Timer(self, max(0.0, delay_ms) / 1000, callback)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # a broker is made before its loop runs
            self._early.append(timer)
        else:
            timer.begin(loop)
        return timer

    def has_rung(self, timer: _Timer) -> None:
        """Call a timer's function soon, after those of timers that rang before it."""
        self._rung.append(timer)
        if len(self._rung) == 1:
            asyncio.get_running_loop().call_soon(self._take_turn)

    def _take_turn(self) -> None:
        """Call the functions of timers that have rung, for the length of a turn."""
        ends_s = time.perf_counter() + TURN_S
        try:
            while self._rung:
                self._rung[0].fire()
                self._rung.popleft()
                if time.perf_counter() >= ends_s:
                    break
        finally:
            if self._rung:
                asyncio.get_running_loop().call_soon(self._take_turn)


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
