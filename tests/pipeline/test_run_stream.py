"""A stream starts again if its Python worker did not connect within Spark's ten seconds."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.pipeline.errors import PipelineError

pytest.importorskip("pyspark")

LATE = "[STREAM_FAILED] Query terminated with exception: Python worker failed to connect back."


class StandIn:
    """Stands for a DataFrame, its writer and its query; each start has a given outcome."""

    isActive = False  # noqa: N815 - Spark's name

    def __init__(self, *outcomes: str, fails_late: bool = False) -> None:
        self.outcomes = list(outcomes)
        self.fails_late = fails_late
        self.starts = 0
        self.writeStream = self

    def foreachBatch(self, take: Callable[[Any, int], None]) -> "StandIn":  # noqa: N802
        self.take = take
        return self

    def option(self, *_: str) -> "StandIn":
        return self

    def trigger(self, **_: object) -> "StandIn":
        return self

    def start(self) -> "StandIn":
        self.starts += 1
        return self

    def awaitTermination(self, _: float) -> bool:  # noqa: N802
        from pyspark.errors import StreamingQueryException

        outcome = self.outcomes.pop(0)
        if not outcome or self.fails_late:
            self.take(self, 0)
        if outcome:
            raise StreamingQueryException(outcome)
        return True

    def stop(self) -> None: ...


def run(stream: StandIn) -> list[int]:
    from kafka_shim.pipeline.spark.run_stream import run_stream

    taken: list[int] = []
    frame: Any = stream
    run_stream(frame, lambda _, number: taken.append(number), every=None, checkpoint=Path("c"))
    return taken


def test_a_stream_whose_worker_was_late_begins_again() -> None:
    stream = StandIn(LATE, LATE, "")
    assert (run(stream), stream.starts) == ([0], 3)


@pytest.mark.parametrize(
    ("stream", "starts"),
    [
        (StandIn(*[LATE] * 9), 3),
        (StandIn("[STREAM_FAILED] no such file", ""), 1),
        (StandIn(LATE, "", fails_late=True), 1),
    ],
    ids=["always late", "another reason", "within a micro-batch"],
)
def test_a_stream_that_fails_otherwise_is_an_error(stream: StandIn, starts: int) -> None:
    with pytest.raises(PipelineError, match="the stream failed"):
        run(stream)
    assert stream.starts == starts
