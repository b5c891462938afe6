"""Measures how long a request keeps an event loop busy that does nothing else."""

import time

from kafka_shim.shim.dispatching.dispatcher import Dispatcher, PendingExchange
from kafka_shim.shim.request.session import Session
from kafka_shim.shim.wait import NoResponse


class Probe:
    """Handles requests and measures the processor time of each."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def dispatch(
        self, dispatcher: Dispatcher, frame: bytes, session: Session
    ) -> bytes | PendingExchange | NoResponse:
        """Dispatch a request and set `seconds` to its processor time."""
        began = time.process_time()
        try:
            return dispatcher.dispatch(frame, session)
        finally:
            self.seconds = time.process_time() - began
