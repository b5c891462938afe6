"""Timers of a clock in the order in which they are due; the clock decides when they are called."""

import heapq
import itertools
from collections.abc import Callable
from typing import NamedTuple

CANCELLED_MAX = 100
"""As many cancelled timers stay in any case."""

Callback = Callable[[], None]


class QueuedTimer:
    """A call that is due later, unless it is cancelled."""

    __slots__ = ("_queue", "callback")

    def __init__(self, queue: "TimerQueue", callback: Callback) -> None:
        self._queue = queue
        self.callback: Callback | None = callback

    def cancel(self) -> None:
        if self.callback is not None:
            self.callback = None  # it may not be due for long
            self._queue.on_timer_cancelled()


class DueCall(NamedTuple):
    """The call of a timer that has become due, and when it was."""

    due: float
    callback: Callback


class TimerQueue:
    """Timers by their time, in any unit; those of one time in the order in which they were set."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, QueuedTimer]] = []
        self._order = itertools.count()
        self._cancelled = 0

    def __len__(self) -> int:
        return len(self._heap)

    def next_due_time(self) -> float | None:
        """Return when the next timer is due; None if there is none."""
        heap = self._heap
        while heap and heap[0][2].callback is None:
            heapq.heappop(heap)
            self._cancelled -= 1
        return heap[0][0] if heap else None

    def push(self, due: float, timer: QueuedTimer) -> None:
        heapq.heappush(self._heap, (due, next(self._order), timer))

    def pop_due(self, until: float) -> DueCall | None:
        """Remove the first timer that is due by then, and return its call."""
        heap = self._heap
        while heap and heap[0][0] <= until:
            due, _, timer = heapq.heappop(heap)
            callback, timer.callback = timer.callback, None
            if callback is not None:
                return DueCall(due, callback)
            self._cancelled -= 1
        return None

    def on_timer_cancelled(self) -> None:
        """Count a cancelled timer; drop all cancelled ones when they are the majority."""
        self._cancelled += 1
        if self._cancelled > max(CANCELLED_MAX, len(self._heap) // 2):
            self._heap = [entry for entry in self._heap if entry[2].callback is not None]
            heapq.heapify(self._heap)
            self._cancelled = 0

    def cancel_all(self) -> None:
        """Cancel all timers."""
        for _, _, timer in self._heap:
            timer.callback = None
        self._heap.clear()
        self._cancelled = 0
