"""A large request is worked on in turns, between which others are served.

Its handler runs on a thread of its own, but never beside the event loop: each waits while the other
runs, as coroutines do, so no handler needs a lock. It can be interrupted where it asks for access
and where it goes `over` items. Only what depends on nothing but its arguments, reading and writing
messages, runs `beside` the loop.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, Protocol, TypeVar

from kafka_shim.shim.clock import TURN_S
from kafka_shim.shim.request.garbage import full_collections

Item = TypeVar("Item")
Result = TypeVar("Result")

LARGE_BYTES = 16 * 1024
"""Smaller requests are answered in one turn."""


class Loop(Protocol):
    """What is needed of an event loop."""

    def call_soon(self, callback: Callable[[], object], /) -> object: ...
    def call_soon_threadsafe(self, callback: Callable[[], object], /) -> object: ...


class AbandonedError(BaseException):
    """Raised in a handler at the end of a turn if its answer is no longer needed."""


class Turns(Generic[Result]):
    """Runs `work` in turns and then calls `done`, on the loop, with a function that returns what
    `work` returned or raises what it raised.
    """

    def __init__(
        self,
        loop: Loop,
        work: Callable[[], Result],
        done: Callable[[Callable[[], Result]], None],
    ) -> None:
        self._loop = loop
        self._work: Callable[[], Any] = work
        self._done: Callable[[Callable[[], Result]], object] = done
        self._outcome: Callable[[], Result] | None = None
        self._may_work = threading.Semaphore(0)
        self._may_loop = threading.Semaphore(0)
        self._is_beside = self._is_abandoned = self._is_over = False
        self._ends_s = 0.0
        self._worker: int | None = None
        self._thread = threading.Thread(target=self._run, name="large request", daemon=True)

    def start(self) -> None:
        """Take the first turn. Call it on the loop's thread."""
        full_collections.begin()
        self._thread.start()
        self._take()

    def abandon(self) -> None:
        """End the work where it can next be interrupted, with an AbandonedError."""
        self._is_abandoned = True
        self._end()

    def over(self, items: Iterable[Item]) -> Iterator[Item]:
        """Give the items; a turn may end after each.

        Outside of a turn there is no interruption.
        """
        if not self._is_mine():
            yield from items
            return
        for item in items:
            yield item
            self.check()

    def check(self) -> None:
        """End the turn if it has taken long enough; work beside the loop takes none."""
        is_late = time.perf_counter() >= self._ends_s
        if is_late and not self._is_beside and self._is_mine():
            self._may_loop.release()
            self._await_turn()

    def beside(self, work: Callable[..., Item], *arguments: Any) -> Item:
        """Do what reads and changes nothing of the cluster while the loop goes on.

        Outside of a turn it is done at once.
        """
        if not self._is_mine():
            return work(*arguments)
        self._is_beside = True
        self._may_loop.release()
        try:
            return work(*arguments)
        finally:
            self._loop.call_soon_threadsafe(self._take)
            self._await_turn()

    def _take(self) -> None:
        """Let the work go on for a turn, on the loop's thread, which waits meanwhile."""
        self._may_work.release()
        self._may_loop.acquire()
        outcome, done = self._outcome, self._done
        if outcome is not None:
            self._thread.join()
            self._end()
            self._forget()
            done(outcome)
        elif not self._is_beside:
            self._loop.call_soon(self._take)

    def _is_mine(self) -> bool:
        """Whether the request is worked on, and by the thread that asks."""
        return threading.get_ident() == self._worker

    def _forget(self) -> None:
        """Let go of all that leads back to the request: its long arrays hold these turns, and the
        garbage collector does not look into messages. The number of a thread may come again.
        """
        self._worker = self._outcome = None
        self._work = self._done = _nothing

    def _end(self) -> None:
        if not self._is_over:
            self._is_over = True
            full_collections.end()

    def _await_turn(self) -> None:
        self._may_work.acquire()
        self._is_beside = False
        self._ends_s = time.perf_counter() + TURN_S
        if self._is_abandoned:
            raise AbandonedError

    def _run(self) -> None:
        outcome: Callable[[], Result]
        self._worker = threading.get_ident()
        try:
            self._await_turn()
            result = self._work()
        except BaseException as error:  # noqa: BLE001 - raised again on the loop
            outcome = _raising(error)
        else:
            outcome = lambda: result  # noqa: E731 - a name for both
        self._outcome = outcome
        self._may_loop.release()


def _raising(error: BaseException) -> Callable[[], Any]:
    errors = [error]

    def again() -> Any:
        raise errors.pop()  # where it was raised leads to here, and nothing leads back

    return again


def _nothing(*_: object) -> None:
    return None
