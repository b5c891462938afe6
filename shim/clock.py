"""Time, as the cluster sees it: one source, so that a run can be repeated or moved by hand."""

import heapq
import itertools
from collections.abc import Callable, Iterator
from typing import Protocol

TURN_S = 0.005
"""How long something may take before others have their turn."""


class Timer(Protocol):
    """Something that can still be called off."""

    def cancel(self) -> None: ...


class Clock(Protocol):
    """Wall time in milliseconds, and calls after a while; `fired` grows by each such call."""

    fired: int

    def now_ms(self) -> int: ...
    def now_us(self) -> int: ...
    def call_later(self, delay_ms: float, callback: Callable[[], None]) -> Timer: ...
    def begin(self) -> None: ...


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
            self._start(delay_ms)

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _start(self, delay_ms: float) -> None:
        self._fires_ms = self._due_ms
        self._timer = self._clock.call_later(delay_ms, self._fire)

    def _fire(self) -> None:
        self._timer = None
        left_ms = self._due_ms - self._clock.now_ms()
        if left_ms > 0:
            self._start(left_ms)
        else:
            self._callback()


class _ManualTimer:
    __slots__ = ("callback", "clock")

    def __init__(self, clock: "ManualClock", callback: Callable[[], None]) -> None:
        self.clock = clock
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        if self.callback is not None:
            self.callback = None  # time may stand still for good
            self.clock.forget_cancelled()


CANCELLED_MAX = 100
"""As many cancelled timers stay in any case."""


class ManualClock:
    """A clock that moves only when it is advanced; timers that become due fire in order."""

    def __init__(self, now_ms: int = 1_700_000_000_000) -> None:
        self.fired = 0
        self._now_ms = self._until_ms = now_ms
        self._timers: list[tuple[float, int, _ManualTimer]] = []
        self._order = itertools.count()
        self._cancelled = 0

    def now_ms(self) -> int:
        return self._now_ms

    def now_us(self) -> int:
        return self._now_ms * 1_000

    def call_later(self, delay_ms: float, callback: Callable[[], None]) -> Timer:
        timer = _ManualTimer(self, callback)
        due = self._now_ms + max(0.0, delay_ms)
        heapq.heappush(self._timers, (due, next(self._order), timer))
        return timer

    def forget_cancelled(self) -> None:
        """Count a cancelled timer, and drop all of them when they are most."""
        self._cancelled += 1
        if self._cancelled > max(CANCELLED_MAX, len(self._timers) // 2):
            self._timers = [entry for entry in self._timers if entry[2].callback is not None]
            heapq.heapify(self._timers)
            self._cancelled = 0

    def begin(self) -> None:
        """Do nothing; only `advance` fires timers."""

    def advance(self, by_ms: int) -> None:
        """Move time forward, firing what falls due at its own moment."""
        for _ in self.steps(by_ms):
            pass

    def steps(self, by_ms: int) -> Iterator[None]:
        """Advance like `advance`, with a pause after each timer.

        A call during a pause continues at the time at which this one ends.
        """
        self._until_ms = max(self._until_ms, self._now_ms) + by_ms
        while self._timers and self._timers[0][0] <= self._until_ms:
            due, _, timer = heapq.heappop(self._timers)
            self._now_ms = max(self._now_ms, int(due))
            callback, timer.callback = timer.callback, None
            if callback is None:
                self._cancelled -= 1
            else:
                self.fired += 1
                callback()
                yield
        self._now_ms = self._until_ms
        self.fired += 1
