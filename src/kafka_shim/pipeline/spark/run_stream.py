"""Run a stream: over the present data, or until it is stopped."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import current_thread, main_thread
from typing import TYPE_CHECKING

from pyspark.errors import StreamingQueryException

from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.pipeline.spark.failure_message import failure_line_with_advice, worker_started_late

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

_WAIT_S = 1
_FINISH_S = 10
_ATTEMPTS = 3


def run_stream(
    frame: "DataFrame",
    process_batch: "Callable[[DataFrame, int], None]",
    *,
    every: str | None,
    checkpoint: Path | None = None,
) -> None:
    """Call `process_batch` with each micro-batch and its number.

    With `every` (such as `2 seconds`), run until SIGINT or SIGTERM; otherwise until all present
    data was processed. A checkpoint lets the next run continue. A stream whose Python worker did
    not start within Spark's ten seconds, as happens on a busy machine, is started again.
    """
    taken: list[int] = []

    def process_numbered_batch(rows: "DataFrame", number: int) -> None:
        taken.append(number)
        process_batch(rows, number)

    writer = frame.writeStream.foreachBatch(process_numbered_batch)
    if checkpoint is not None:
        writer = writer.option("checkpointLocation", str(checkpoint))
    writer = writer.trigger(processingTime=every) if every else writer.trigger(availableNow=True)
    with _catch_stop_signals() as stopped:
        for attempts_left in reversed(range(_ATTEMPTS)):
            try:
                _await_stream(writer.start(), stopped)
            except StreamingQueryException as error:
                if attempts_left and not taken and worker_started_late(error):
                    continue
                raise PipelineError(
                    f"the stream failed: {failure_line_with_advice(error)}"
                ) from error
            return


def _await_stream(query: "StreamingQuery", stopped: list[int]) -> None:
    try:
        while not stopped and not query.awaitTermination(_WAIT_S):
            pass
    finally:
        _wait_briefly_for_current_micro_batch(query)
        query.stop()


def _wait_briefly_for_current_micro_batch(query: "StreamingQuery") -> None:
    """Wait a little for the current micro-batch, which would be repeated if it were interrupted."""
    deadline = time.monotonic() + _FINISH_S
    while query.isActive and query.status["isTriggerActive"] and time.monotonic() < deadline:
        time.sleep(0.05)


@contextmanager
def _catch_stop_signals() -> Iterator[list[int]]:
    """Yield a list to which SIGINT and SIGTERM are added; they have no other effect meanwhile."""
    found: list[int] = []
    if current_thread() is not main_thread():
        yield found
        return
    wanted = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda number, _: found.append(number)) for number in wanted]
    try:
        yield found
    finally:
        for number, handler in zip(wanted, before, strict=True):
            signal.signal(number, handler)
