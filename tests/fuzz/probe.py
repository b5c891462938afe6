"""Measures how long a request keeps an event loop busy that does nothing else."""

import queue
import time
from collections.abc import Callable

from kafka_shim.shim.dispatching.dispatcher import Dispatcher, PendingExchange
from kafka_shim.shim.errors import NeedsTimeSlices
from kafka_shim.shim.network.large_requests import needs_time_slices
from kafka_shim.shim.request.session import AuthenticationPhase, Session
from kafka_shim.shim.request.time_slices import TimeSlices
from kafka_shim.shim.wait import NoResponse


class Probe:
    """Handles requests as a connection does and measures the processor time of each turn."""

    def __init__(self) -> None:
        self._ready: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        self.longest_s = 0.0

    def dispatch(
        self, dispatcher: Dispatcher, frame: bytes, session: Session
    ) -> bytes | PendingExchange | NoResponse:
        """Dispatch a request and set `longest_s` to the time of its longest turn."""
        self.longest_s = 0.0
        if session.phase is not AuthenticationPhase.READY or not needs_time_slices(frame):
            began = time.process_time()
            try:
                return dispatcher.dispatch(frame, session)
            except NeedsTimeSlices:
                pass
            finally:
                self.longest_s = time.process_time() - began
        found: list[Callable[[], bytes | PendingExchange | NoResponse]] = []
        slices = TimeSlices(self, lambda: dispatcher.dispatch(frame, session), found.append)
        session.slices = slices
        self._measured(slices.start_first_slice_postponing_full_gc)
        while not found:
            self._measured(self._ready.get())
        session.slices = None
        return found[0]()

    def call_soon(self, callback: Callable[[], object], /) -> None:
        self._ready.put(callback)

    def call_soon_threadsafe(self, callback: Callable[[], object], /) -> None:
        self._ready.put(callback)

    def _measured(self, callback: Callable[[], object]) -> None:
        began = time.process_time()
        callback()
        self.longest_s = max(self.longest_s, time.process_time() - began)
