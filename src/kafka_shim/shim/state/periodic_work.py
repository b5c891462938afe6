"""Periodic work that stops while there is nothing to do."""

from collections.abc import Callable, Iterable

from kafka_shim.shim.clock import Clock, Timer


class PeriodicWork:
    """Repeats `work` after each interval as long as one of its results is True."""

    def __init__(
        self, clock: Clock, interval_ms: Callable[[], int], work: Callable[[], Iterable[bool]]
    ) -> None:
        self._clock = clock
        self._interval_ms = interval_ms
        self._work = work
        self._timer: Timer | None = None

    def ensure_round_scheduled(self) -> None:
        """Start the interval timer, unless it is running."""
        if self._timer is None:
            self._timer = self._clock.call_later(self._interval_ms(), self._do_round)

    def stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _do_round(self) -> None:
        self._timer = None
        for is_left in self._work():
            if is_left:
                self.ensure_round_scheduled()
