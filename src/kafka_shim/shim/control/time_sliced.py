"""Long work of the control API, between whose steps clients are served."""

import asyncio
import time
from collections.abc import Iterator

from kafka_shim.shim.clock import SLICE_S


async def run_time_sliced(steps: Iterator[None]) -> None:
    """Iterate over the steps, and let the event loop do other work after each turn."""
    ends_s = time.perf_counter() + SLICE_S
    for _ in steps:
        if time.perf_counter() >= ends_s:
            await asyncio.sleep(0)
            ends_s = time.perf_counter() + SLICE_S
