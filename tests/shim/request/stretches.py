"""Count the lines of code that a request runs in all, and at most between two interruptions.

Lines are counted, since bytecodes differ between releases of Python.
"""

import queue
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

from kafka_shim.shim.dispatching.dispatcher import Dispatcher, PendingExchange
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.request.session import Session
from kafka_shim.shim.request.time_slices import TimeSlices
from kafka_shim.shim.wait import NoResponse

Item = TypeVar("Item")
Response = bytes | PendingExchange | NoResponse | None


class _Loop:
    """An event loop without other work."""

    def __init__(self) -> None:
        self.ready: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()

    def call_soon(self, callback: Callable[[], object], /) -> None:
        self.ready.put(callback)

    call_soon_threadsafe = call_soon


class Stretches(TimeSlices[Response]):
    """The turns of one request; counts the lines that run between two interruptions.

    Code that runs beside the loop blocks no other request: its lines are in `lines`, but not in
    `longest`.
    """

    def __init__(self, dispatcher: Dispatcher, frame: bytes, session: Session) -> None:
        self.lines = self.longest = self._since = 0
        self._frame, self._dispatcher, self._session = frame, dispatcher, session
        self._idle = _Loop()
        self._found: list[Callable[[], Response]] = []
        super().__init__(self._idle, self._response, self._found.append)
        session.slices = self

    def run(self) -> None:
        self.start_first_slice_postponing_full_gc()
        while not self._found:
            self._idle.ready.get()()
        self._session.slices = None
        self._found[0]()

    def yield_if_slice_ended(self) -> None:
        if not self._is_offloaded:
            self._pause()
        super().yield_if_slice_ended()

    def offload(self, work: Callable[..., Item], *arguments: Any) -> Item:
        self._pause()
        try:
            return super().offload(work, *arguments)
        finally:
            self.lines += self._since
            self._since = 0

    def _response(self) -> Response:
        others = sys.gettrace()
        sys.settrace(self._counted)
        try:
            return self._dispatcher.dispatch(self._frame, self._session)
        except CloseConnection:
            return None
        finally:
            sys.settrace(others)
            self._pause()

    def _pause(self) -> None:
        self.lines += self._since
        self.longest = max(self.longest, self._since)
        self._since = 0

    def _counted(self, frame: FrameType, event: str, _: object) -> Any:
        if event == "line":
            self._since += 1
        return self._counted
