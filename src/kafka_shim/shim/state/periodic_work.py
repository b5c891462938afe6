"""Periodic work that stops while there is nothing to do."""

import time
from collections.abc import Callable, Iterable, Iterator

from kafka_shim.shim.clock import SLICE_S, Clock, Timer


class PeriodicWork:
    """Repeats `work` after each interval as long as one of its results is True.

    A round is done in turns: other work may be done after each result.
    """

    def __init__(
        self, clock: Clock, interval_ms: Callable[[], int], work: Callable[[], Iterable[bool]]
    ) -> None:
        self._clock = clock
        self._interval_ms = interval_ms
        self._work = work
        self._timer: Timer | None = None
        self._turn: Timer | None = None

    def schedule_next_round(self) -> None:
        """Start the interval timer, unless it is running."""
        if self._timer is None:
            self._timer = self._clock.call_later(self._interval_ms(), self._begin_round)

    def stop_timer(self) -> None:
        for timer in (self._timer, self._turn):
            if timer is not None:
                timer.cancel()
        self._timer = self._turn = None

    def _begin_round(self) -> None:
        self._timer = None
        if self._turn is None:
            self._continue_round_in_slices(iter(self._work()))
        else:  # the last round is not over
            self.schedule_next_round()

    def _continue_round_in_slices(self, results: Iterator[bool]) -> None:
        """Continue for the length of a turn."""
        self._turn = None
        ends_s = time.perf_counter() + SLICE_S
        for is_left in results:
            if is_left:
                self.schedule_next_round()
            if time.perf_counter() >= ends_s:
                self._turn = self._clock.call_later(
                    0, lambda: self._continue_round_in_slices(results)
                )
                return
