"""Large requests are handled in time slices, between which others are served.

The handler runs on its own thread, but never at the same time as the event loop: each waits while
the other runs, so handlers need no locks. It can be interrupted at a permission check and where it
iterates `over` items. Only functions of their arguments, such as decoding and encoding messages,
run next to the event loop (`offload`).
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextvars import copy_context
from typing import Any, Generic, Protocol, TypeVar

from kafka_shim.shim.clock import SLICE_S
from kafka_shim.shim.request.garbage_collection import full_gc_postponement

Item = TypeVar("Item")
Result = TypeVar("Result")

LARGE_BYTES = 16 * 1024
"""Smaller requests are handled in one time slice."""


class EventLoop(Protocol):
    """The interface of the event loop."""

    def call_soon(self, callback: Callable[[], object], /) -> object: ...
    def call_soon_threadsafe(self, callback: Callable[[], object], /) -> object: ...


class RequestAbandonedError(BaseException):
    """Raised in a handler at the end of a time slice if its response is no longer needed."""


class TimeSlices(Generic[Result]):
    """Runs `work` in time slices and then calls `done` on the loop with a function that returns the
    result of `work`, or raises its exception.
    """

    def __init__(
        self,
        loop: EventLoop,
        work: Callable[[], Result],
        done: Callable[[Callable[[], Result]], None],
    ) -> None:
        self._loop = loop
        self._work: Callable[[], Any] = work
        self._on_done: Callable[[Callable[[], Result]], object] = done
        self._outcome: Callable[[], Result] | None = None
        self._worker_may_run = threading.Semaphore(0)
        self._loop_may_run = threading.Semaphore(0)
        self._is_offloaded = self._is_abandoned = self._is_over = False
        self._slice_ends_s = 0.0
        self._worker: int | None = None
        self._thread = threading.Thread(
            target=copy_context().run, args=(self._run_worker,), name="large request", daemon=True
        )

    def start_first_slice_postponing_full_gc(self) -> None:
        """Take the first time slice. Call it on the loop's thread."""
        full_gc_postponement.begin()
        self._thread.start()
        self._run_slice_then_reschedule_or_finish()

    def abandon_work_and_resume_full_gc(self) -> None:
        """End the work where it can next be interrupted, with a RequestAbandonedError."""
        self._is_abandoned = True
        self._resume_full_gc_once()

    def time_sliced(self, items: Iterable[Item]) -> Iterator[Item]:
        """Give the items; a time slice may end after each.

        Outside of a time slice there is no interruption.
        """
        if not self._is_worker_thread():
            yield from items
            return
        for item in items:
            yield item
            self.yield_if_slice_ended()

    def yield_if_slice_ended(self) -> None:
        """End the time slice if it has taken long enough; offloaded work takes none."""
        is_late = time.perf_counter() >= self._slice_ends_s
        if is_late and not self._is_offloaded and self._is_worker_thread():
            self._loop_may_run.release()
            self._await_next_slice_unless_abandoned()

    def offload(self, work: Callable[..., Item], *arguments: Any) -> Item:
        """Run a function that does not use the cluster while the loop continues.

        Outside of a time slice it runs immediately.
        """
        if not self._is_worker_thread():
            return work(*arguments)
        self._is_offloaded = True
        self._loop_may_run.release()
        try:
            return work(*arguments)
        finally:
            self._loop.call_soon_threadsafe(self._run_slice_then_reschedule_or_finish)
            self._await_next_slice_unless_abandoned()

    def _run_slice_then_reschedule_or_finish(self) -> None:
        """Continue the work for a time slice, on the loop's thread, which waits meanwhile."""
        self._worker_may_run.release()
        self._loop_may_run.acquire()
        outcome, done = self._outcome, self._on_done
        if outcome is not None:
            self._thread.join()
            self._resume_full_gc_once()
            self._drop_request_references()
            done(outcome)
        elif not self._is_offloaded:
            self._loop.call_soon(self._run_slice_then_reschedule_or_finish)

    def _is_worker_thread(self) -> bool:
        """Return whether the request is being handled by the current thread."""
        return threading.get_ident() == self._worker

    def _drop_request_references(self) -> None:
        """Drop references to the request: its long arrays refer to these time slices, and the
        garbage collector does not scan messages. Thread ids can be reused.
        """
        self._worker = self._outcome = None
        self._work = self._on_done = _ignore_arguments

    def _resume_full_gc_once(self) -> None:
        if not self._is_over:
            self._is_over = True
            full_gc_postponement.end()

    def _await_next_slice_unless_abandoned(self) -> None:
        self._worker_may_run.acquire()
        self._is_offloaded = False
        self._slice_ends_s = time.perf_counter() + SLICE_S
        if self._is_abandoned:
            raise RequestAbandonedError

    def _run_worker(self) -> None:
        outcome: Callable[[], Result]
        self._worker = threading.get_ident()
        try:
            self._await_next_slice_unless_abandoned()
            result = self._work()
        except BaseException as error:  # noqa: BLE001 - raised again on the loop
            outcome = _raise_once(error)
        else:
            outcome = lambda: result  # noqa: E731 - a name for both
        self._outcome = outcome
        self._loop_may_run.release()


def _raise_once(error: BaseException) -> Callable[[], Any]:
    errors = [error]

    def again() -> Any:
        raise errors.pop()  # where it was raised leads to here, and nothing leads back

    return again


def _ignore_arguments(*_: object) -> None:
    return None
