"""A large request is handled in turns; between them the event loop serves other clients."""

import gc
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import ref

import msgspec
import pytest

from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.request import time_slices as turns_module
from kafka_shim.shim.request.garbage_collection import NEVER, freeze_gc
from kafka_shim.shim.request.long_arrays import TimeSlicedList
from kafka_shim.shim.request.time_slices import RequestAbandonedError, TimeSlices

Found = list[Callable[[], Any]]
"""The arguments with which `Turns` called its callback `done`."""


class Message(msgspec.Struct, gc=False):
    """A message that the garbage collector does not track, like those of the protocol."""

    rows: list[Any]


class FakeLoop:
    """An event loop that runs its callbacks in order; `run_until` waits for those of threads."""

    def __init__(self) -> None:
        self._ready: deque[Callable[[], object]] = deque()
        self._more = threading.Semaphore(0)

    def call_soon(self, callback: Callable[[], object], /) -> None:
        self._ready.append(callback)
        self._more.release()

    call_soon_threadsafe = call_soon

    def run_until(self, found: Found) -> None:
        while not found:
            self._more.acquire()
            self._ready.popleft()()


@pytest.fixture(autouse=True)
def every_check_ends_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns_module, "SLICE_S", -1.0)


def test_other_requests_run_between_two_items() -> None:
    loop, found = FakeLoop(), Found()
    events: list[str] = []

    def work() -> str:
        for number in slices.time_sliced(range(3)):
            events.append(f"item {number}")
            loop.call_soon(partial(events.append, f"other {number}"))
        return "response"

    slices: TimeSlices[str] = TimeSlices(loop, work, found.append)
    slices.start_first_slice_postponing_full_gc()
    loop.run_until(found)
    assert found[0]() == "response"
    assert events == ["item 0", "other 0", "item 1", "other 1", "item 2", "other 2"]


def test_an_exception_in_a_worker_thread_is_raised_on_the_loop() -> None:
    loop, found = FakeLoop(), Found()
    TimeSlices(loop, lambda: 1 // 0, found.append).start_first_slice_postponing_full_gc()
    loop.run_until(found)
    with pytest.raises(ZeroDivisionError):
        found[0]()


def test_the_loop_runs_while_a_function_runs_beside_it() -> None:
    loop, found, is_called = FakeLoop(), Found(), threading.Event()

    def work() -> bool:
        loop.call_soon(is_called.set)
        return slices.offload(is_called.wait, 20)

    slices: TimeSlices[bool] = TimeSlices(loop, work, found.append)
    slices.start_first_slice_postponing_full_gc()
    loop.run_until(found)
    assert found[0]() is True


def test_abandoned_work_ends_at_its_next_interruption() -> None:
    loop, found = FakeLoop(), Found()
    done: list[int] = []

    def work() -> None:
        try:
            for number in slices.time_sliced(range(10)):
                done.append(number)
                assert number == 0
        finally:
            done.append(-1)

    slices: TimeSlices[None] = TimeSlices(loop, work, found.append)
    slices.start_first_slice_postponing_full_gc()
    slices.abandon_work_and_resume_full_gc()
    loop.run_until(found)
    with pytest.raises(RequestAbandonedError):
        found[0]()
    assert done == [0, -1]


def test_iterating_a_long_array_is_interrupted_only_while_its_request_is_handled() -> None:
    loop, found = FakeLoop(), Found()
    events: list[int] = []

    def work() -> list[int]:
        loop.call_soon(lambda: events.extend(kept))
        return [number + 1 for number in kept]

    slices: TimeSlices[list[int]] = TimeSlices(loop, work, found.append)
    kept = TimeSlicedList([1, 2], slices)
    assert list(kept) == [1, 2]
    slices.start_first_slice_postponing_full_gc()
    loop.run_until(found)
    assert found[0]() == [2, 3]
    assert events == [1, 2]
    assert list(kept) == [1, 2]


def test_iterating_a_long_array_beside_the_loop_is_not_interrupted() -> None:
    loop, found = FakeLoop(), Found()

    def work() -> list[int]:
        return slices.offload(list, kept)

    slices: TimeSlices[list[int]] = TimeSlices(loop, work, found.append)
    kept = TimeSlicedList([1, 2], slices)
    slices.start_first_slice_postponing_full_gc()
    loop.run_until(found)
    assert found[0]() == [1, 2]


def test_a_request_that_closed_its_connection_is_garbage_collected() -> None:
    loop, found = FakeLoop(), Found()
    kept = []

    def work() -> None:
        message = Message(TimeSlicedList([{1}], slices))
        kept.append(ref(message.rows[0]))
        raise CloseConnection("it makes no sense")

    slices: TimeSlices[None] = TimeSlices(loop, work, found.append)
    slices.start_first_slice_postponing_full_gc()
    loop.run_until(found)
    with pytest.raises(CloseConnection):
        found.pop()()
    slices = None  # type: ignore[assignment]  # only the message refers to them now
    gc.collect()
    assert kept[0]() is None


@pytest.mark.timeout(20)
def test_iterating_an_array_of_a_finished_request_is_not_interrupted() -> None:
    loop, found = FakeLoop(), Found()
    first: TimeSlices[int] = TimeSlices(loop, threading.get_ident, found.append)
    first.start_first_slice_postponing_full_gc()
    loop.run_until(found)
    number = found.pop()()
    kept = TimeSlicedList([1, 2], first)

    def work() -> tuple[bool, list[int]]:
        first.yield_if_slice_ended()
        return threading.get_ident() == number, first.offload(list, kept)

    assert work() == (False, [1, 2])
    for _ in range(100):  # until a new thread has the id of the first one
        TimeSlices(loop, work, found.append).start_first_slice_postponing_full_gc()
        loop.run_until(found)
        is_same, rows = found.pop()()
        assert rows == [1, 2]
        if is_same:
            break


def test_full_garbage_collections_are_off_until_all_large_requests_end() -> None:
    usual = gc.get_threshold()
    loop, found = FakeLoop(), Found()
    first: TimeSlices[int] = TimeSlices(
        loop, lambda: sum(first.time_sliced(range(3))), found.append
    )
    second: TimeSlices[int] = TimeSlices(
        loop, lambda: sum(second.time_sliced(range(9))), found.append
    )
    first.start_first_slice_postponing_full_gc()
    second.start_first_slice_postponing_full_gc()
    loop.run_until(found)
    assert gc.get_threshold()[2] == NEVER
    second.abandon_work_and_resume_full_gc()
    assert gc.get_threshold() == usual
    found.clear()
    loop.run_until(found)
    assert gc.get_threshold() == usual


def test_the_garbage_collector_ignores_objects_created_at_startup() -> None:
    freeze_gc()
    try:
        assert len(gc.get_objects()) < 1_000 < gc.get_freeze_count()
    finally:
        gc.unfreeze()
