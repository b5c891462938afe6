"""Polls for the next request for a moment after a response, instead of sleeping until it comes.

A client that waits for each response sends its next request soon after it. Until then to sleep and
to be woken takes longer than to handle most requests, and leaves the processor's caches cold. The
moment is short, and it is spent only while the clients are so fast that most requests come in it.
"""

import asyncio
import os
from collections.abc import Callable

POLLED_S = 100e-6
"""How long it polls after a response. On a busy machine, a fast client needs half of it or more."""
SOON_S = 300e-6
"""If one response follows another so soon, the request between them came soon."""
PAUSE = 16
"""Number of responses without polling after no request came while it polled."""


class BusyPolling:
    """Keeps the event loop from sleeping; other connections and timers are served as always."""

    def __init__(self, clock_s: Callable[[], float]) -> None:
        self._clock_s = clock_s
        self.is_enabled = False
        self._last_response_s = 0.0
        self._paused_responses = 0
        self.is_polling = False

    def enable(self) -> None:
        """Allow polling: for a process that has nothing else to do, beside clients in others."""
        self.is_enabled = (os.cpu_count() or 1) > 1

    def poll(self) -> None:
        """Begin or go on to poll, after a response."""
        now_s = self._clock_s()
        came_soon = now_s - self._last_response_s < SOON_S
        self._last_response_s = now_s
        if self._paused_responses:
            self._paused_responses -= 1
        elif came_soon and not self.is_polling:
            self.is_polling = True
            asyncio.get_running_loop().call_soon(self._poll)

    def _poll(self) -> None:
        """Let the event loop look for requests, without sleeping, in its next iteration."""
        if self._clock_s() - self._last_response_s < POLLED_S:
            asyncio.get_running_loop().call_soon(self._poll)
        else:
            self.is_polling = False
            self._paused_responses = PAUSE
