"""Spark's progress, on the terminal."""

import os
import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WIDTH = 30
INTERVAL_S = 0.2


class Progress:
    """Shows the number of finished tasks on standard error; nothing if it is not a terminal."""

    def __init__(self, what: str, spark: "SparkSession | None" = None) -> None:
        self._what = what
        # a Spark Connect server does not report its tasks
        self._spark = None if "SPARK_REMOTE" in os.environ else spark
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._show, daemon=True)

    def __enter__(self) -> "Progress":
        if sys.stderr.isatty():
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._done.set()
        if self._thread.is_alive():
            self._thread.join()
            sys.stderr.write("\r\x1b[K")

    def _show(self) -> None:
        while not self._done.wait(INTERVAL_S):
            sys.stderr.write(f"\r\x1b[K{progress_bar(self._what, *self._task_counts())}")
            sys.stderr.flush()

    def _task_counts(self) -> tuple[int, int]:
        if self._spark is None:
            return 0, 0
        tracker = self._spark.sparkContext.statusTracker()
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        known = [stage for stage in stages if stage is not None]
        done = sum(stage.numCompletedTasks for stage in known)
        return done, sum(stage.numTasks for stage in known)


def progress_bar(label: str, done: int, of: int) -> str:
    """Return `reading [#######-------] 3/6 tasks`; no bar if the number of tasks is unknown."""
    if of == 0:
        return f"{label} ..."
    full = WIDTH * done // of
    return f"{label} [{'#' * full}{'-' * (WIDTH - full)}] {done}/{of} tasks"
