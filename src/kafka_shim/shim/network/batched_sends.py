"""Sends the responses of several connections one right after the other.

A client that waits for responses is woken by the first of them; while it is awake, sending it more
costs the system less than half as much.
"""

import asyncio
from collections.abc import Callable

from kafka_shim.shim.network.busy_polling import BusyPolling

BATCH_MAX = 32
"""Number of connections whose responses are sent without waiting for more."""
WAIT_S = 0.001
"""How long a response may wait for those of other connections."""
_UNKNOWN = ()


class BatchedSends:
    """Postpones sending while other connections have requests in this loop iteration."""

    def __init__(self, clock_s: Callable[[], float], polling: BusyPolling) -> None:
        self._clock_s = clock_s
        self._polling = polling
        self._waiting: list[Callable[[], None]] = []
        self._is_scheduled = False
        self._ends_s = 0.0

    def others_are_ready(self) -> bool:
        """Return whether other connections have requests or responses in this loop iteration."""
        return bool(self._waiting) or self._is_scheduled or self._ready_count() > 0

    def _ready_count(self) -> int:
        """Return how many callbacks others have in this iteration, as far as the loop shows it."""
        ready = len(getattr(asyncio.get_running_loop(), "_ready", _UNKNOWN))
        return ready - self._is_scheduled - self._polling.is_polling

    def postpone(self, send: Callable[[], None]) -> bool:
        """Return whether `send` is called soon, with those of other connections; if not, nobody
        else has work in this turn, as far as the event loop shows it.
        """
        waiting, has_others = self._waiting, self._ready_count() > 0
        if not waiting:
            if not has_others:
                return False
            self._ends_s = self._clock_s() + WAIT_S
            if not self._is_scheduled:
                self._is_scheduled = True
                asyncio.get_running_loop().call_soon(self._on_iteration_end)
        waiting.append(send)
        if not has_others or len(waiting) >= BATCH_MAX or self._clock_s() > self._ends_s:
            self._send_all()
        return True

    def _on_iteration_end(self) -> None:
        self._is_scheduled = False
        self._send_all()

    def _send_all(self) -> None:
        waiting, self._waiting = self._waiting, []
        for send in waiting:
            send()
