"""Pauses the responses to a client that is over its quotas (KIP-219)."""

from collections.abc import Callable

from kafka_shim.shim.clock import Clock, Timer
from kafka_shim.shim.request.session import Session


class ThrottlePause:
    """The pause of one connection; `resume` is called at its end."""

    def __init__(self, clock: Clock, resume: Callable[[], None]) -> None:
        self._clock = clock
        self._resume = resume
        self.timer: Timer | None = None
        """Runs during a pause."""

    def begin_if_throttled(self, session: Session | None) -> None:
        """Begin a pause if the last response throttled the client."""
        if session is not None and session.throttle_pause_ms:
            delay_ms, session.throttle_pause_ms = session.throttle_pause_ms, 0
            self.cancel()
            self.timer = self._clock.call_later(delay_ms, self._on_end)

    def cancel(self) -> None:
        """Cancel the pause: the connection has ended."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def _on_end(self) -> None:
        self.timer = None
        self._resume()
