"""Run long work of the control API in time slices, between which clients are served."""

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from kafka_shim.shim.clock import SLICE_S
from kafka_shim.shim.request.time_slices import TimeSlices

Result = TypeVar("Result")


async def run_steps_in_time_slices(steps: Iterator[None]) -> None:
    """Iterate over the steps, and let the event loop do other work after each time slice."""
    ends_s = time.perf_counter() + SLICE_S
    for _ in steps:
        if time.perf_counter() >= ends_s:
            await asyncio.sleep(0)
            ends_s = time.perf_counter() + SLICE_S


async def run_on_event_loop_in_time_slices(work: Callable[[TimeSlices[Result]], Result]) -> Result:
    """Return the result of the work, which gets its time slices to iterate and offload with.

    The work runs like a large request: never at the same time as the event loop, except for
    functions that it offloads. Raise what the work raises.
    """
    finished: asyncio.Future[Callable[[], Result]] = asyncio.get_running_loop().create_future()

    def on_done(outcome: Callable[[], Result]) -> None:
        if not finished.done():
            finished.set_result(outcome)

    slices: TimeSlices[Result] = TimeSlices(
        asyncio.get_running_loop(), lambda: work(slices), on_done
    )
    slices.start_first_slice_postponing_full_gc()
    try:
        outcome = await finished
    except asyncio.CancelledError:
        slices.abandon_work_and_resume_full_gc()
        raise
    return outcome()
