"""Periodic work that stops while there is nothing to do."""

from collections.abc import Callable

from kafka_shim.shim.clock import Clock, Timer


class Rounds:
    """Calls `work` after each interval for as long as it returns True."""

    def __init__(
        self, clock: Clock, interval_ms: Callable[[], int], work: Callable[[], bool]
    ) -> None:
        self._clock = clock
        self._interval_ms = interval_ms
        self._work = work
        self._timer: Timer | None = None

    def plan(self) -> None:
        """Start the interval timer, unless it is running."""
        if self._timer is None:
            self._timer = self._clock.call_later(self._interval_ms(), self._run)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _run(self) -> None:
        self._timer = None
        if self._work():
            self.plan()
