"""The pace of a replay: pauses as in the recording, or shorter by a factor."""

import time
from collections.abc import Callable

LATE_S = 0.01
"""A replay that is later than this does not catch up: pauses would be shorter than recorded."""


class ReplayPace:
    """Waits before each event; without a speed it does not wait.

    Pauses matter to a broker: members that join a new group within a delay are in one generation.
    So if the target is slower than the recorded broker, all later events are delayed.
    """

    def __init__(
        self,
        speed: float | None,
        first_us: int,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._speed = speed
        self._first_us = first_us
        self._now = now
        self._sleep = sleep
        self._start = now()

    def wait(self, time_us: int) -> None:
        """Wait until an event recorded at this time is due."""
        if self._speed is None:
            return
        due = self._start + (time_us - self._first_us) / 1_000_000 / self._speed
        late_s = self._now() - due
        if late_s < 0:
            self._sleep(-late_s)
        elif late_s > LATE_S:
            self._start += late_s
