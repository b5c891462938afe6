"""A pause in the answers to a client that is over its quotas (KIP-219)."""

from collections.abc import Callable

from kafka_shim.shim.clock import Clock, Timer
from kafka_shim.shim.request.session import Session


class ThrottlePause:
    """That of one connection; `go_on` is called when it is over."""

    def __init__(self, clock: Clock, go_on: Callable[[], None]) -> None:
        self._clock = clock
        self._go_on = go_on
        self.timer: Timer | None = None
        """Runs while nothing more is answered."""

    def begin(self, session: Session | None) -> None:
        """Stop answering if the last answer throttled the client."""
        if session is not None and session.throttle_pause_ms:
            delay_ms, session.throttle_pause_ms = session.throttle_pause_ms, 0
            self.cancel()
            self.timer = self._clock.call_later(delay_ms, self._end)

    def cancel(self) -> None:
        """Call it off: the connection has ended."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def _end(self) -> None:
        self.timer = None
        self._go_on()
