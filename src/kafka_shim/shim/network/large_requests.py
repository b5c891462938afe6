"""Large requests of all connections: a few are worked on in time slices, the others wait."""

import asyncio
import gc
from collections import deque
from collections.abc import Callable

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.dispatching.dispatcher import Dispatcher, PendingExchange
from kafka_shim.shim.request.session import Session
from kafka_shim.shim.request.time_slices import LARGE_BYTES, TimeSlices
from kafka_shim.shim.wait import NoResponse

AT_ONCE = 4
"""More of them at a time would not be done sooner."""
_PRODUCE = ApiKey.PRODUCE.to_bytes(2, "big")
WITHOUT_PAUSE = 256
"""Number of requests after which there is a pause for garbage collection: see `garbage`."""

Outcome = Callable[[], bytes | PendingExchange | NoResponse]
"""Returns what a request was answered, or raises why it was not."""


class LargeRequestWork:
    """A large request, until it has been worked on."""

    def __init__(self, frame: bytes, session: Session, done: Callable[[Outcome], None]) -> None:
        self.frame = frame
        self.session = session
        self.done = done
        self.slices: TimeSlices[bytes | PendingExchange | NoResponse] | None = None
        self.is_cancelled = False

    def cancel(self) -> None:
        """Cancel the request, whose client is gone."""
        self.is_cancelled = True
        self.frame = b""
        if self.slices is not None:
            self.slices.abandon_work_and_resume_full_gc()


def needs_time_slices(frame: bytes) -> bool:
    """Return whether a request is so long that it is decoded and handled in time slices."""
    if len(frame) < LARGE_BYTES:
        return False
    if frame[:2] != _PRODUCE:
        return True
    from kafka_shim.shim.network.large_produces import is_quickly_appended  # noqa: PLC0415 - its imports take as long as 10 ms

    return not is_quickly_appended(frame)


class LargeRequests:
    """Handles large requests, each on its own thread, in time slices."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        dispatcher.may_use_time_slices = self.can_slice_unless_trace_or_custom_authorizer
        self.at_work = 0
        self._begun = 0  # since there was none at work
        self._waiting: deque[LargeRequestWork] = deque()

    def can_slice_unless_trace_or_custom_authorizer(self) -> bool:
        """Return whether large requests can be handled on threads.

        While a trace is recorded none is, as decisions are written behind their request. A user's
        own authorizer is called from the loop's thread only, and a loop in debug mode likewise.
        """
        return (
            self._dispatcher.handles_requests_on_threads
            and self._dispatcher.recorder is None
            and self._dispatcher.cluster.policy.uses_standard_or_no_authorizer
            and not asyncio.get_running_loop().get_debug()
        )

    def start_or_queue(self, request_work: LargeRequestWork) -> None:
        """Handle a request; `done` is called on the loop with a function that returns the response
        or raises the dispatcher's exception, unless the request is cancelled.
        """
        if not self._has_free_slot():
            self._waiting.append(request_work)
            return
        self.at_work += 1
        self._begun += 1
        loop, session = asyncio.get_running_loop(), request_work.session

        def work() -> bytes | PendingExchange | NoResponse:
            asyncio._set_running_loop(loop)
            return self._dispatcher.dispatch(request_work.frame, session)

        def end(outcome: Outcome) -> None:
            session.slices = None
            self.at_work -= 1
            loop.call_soon(self._start_queued_collecting_garbage_if_idle)
            if not request_work.is_cancelled:
                request_work.done(outcome)

        request_work.slices = session.slices = TimeSlices(loop, work, end)
        request_work.slices.start_first_slice_postponing_full_gc()

    def _has_free_slot(self) -> bool:
        return self.at_work < AT_ONCE and self._begun < WITHOUT_PAUSE

    def _start_queued_collecting_garbage_if_idle(self) -> None:
        """Begin as many waiting requests as allowed."""
        if not self.at_work:
            if self._begun >= WITHOUT_PAUSE and gc.isenabled():
                gc.collect()
            self._begun = 0
        while self._waiting and self._has_free_slot():
            working = self._waiting.popleft()
            if not working.is_cancelled:
                self.start_or_queue(working)
