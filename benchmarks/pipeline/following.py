"""The age of the newest row when a stream delivers it, while a trace is being written."""

import json
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.pipeline.data import Traffic
from benchmarks.pipeline.ratio import Bench, Ratio, faster
from kafka_shim.pipeline.spark.data_source import FORMAT
from kafka_shim.trace_format.entries import BlockBody
from kafka_shim.trace_format.segments import SegmentWriter

INTERVAL_S = 1.0
REQUESTS_A_SECOND = 2000
FLUSH_S = 0.1
WARM_UP, BATCHES = 10, 20
PATIENCE_S = 300


def s8_follow(bench: Bench) -> Ratio:
    """Compare the interval with the age of the newest row, at 2,000 requests per second."""
    oldest = age(bench.spark, bench.folder / "followed")
    return faster("S8", "age of the newest row", "interval", (oldest, INTERVAL_S), 1 / 0.8)


def age(spark: Any, folder: Path) -> float:
    """Return the median age of the newest rows, after the first few micro-batches."""
    stop = threading.Event()
    writer = threading.Thread(target=_write, args=(folder, stop))
    folder.mkdir()
    writer.start()
    found: list[float] = []

    def take(batch: Any, _: int) -> None:
        newest = batch.agg({"time": "max"}).collect()[0][0]
        if newest is not None:
            found.append(time.time() - newest.timestamp())  # noqa: TID251 - the clock of the rows

    reader = spark.readStream.format(FORMAT).option("paths", json.dumps([str(folder)]))
    stream = reader.schema("time timestamp").load().writeStream.foreachBatch(take)
    query = stream.trigger(processingTime=f"{INTERVAL_S} seconds").start()
    deadline = time.monotonic() + PATIENCE_S
    while len(found) < WARM_UP + BATCHES and time.monotonic() < deadline:
        query.awaitTermination(1)
    query.stop()
    stop.set()
    writer.join()
    steady = sorted(found[WARM_UP:])
    if not steady:
        raise TimeoutError(f"only {len(found)} micro-batches in {PATIENCE_S} seconds")
    return steady[len(steady) // 2]


def _write(folder: Path, stop: threading.Event) -> None:
    traffic, writer = Traffic(), SegmentWriter(folder, "bench")
    while not stop.wait(FLUSH_S):
        now_us = time.time_ns() // 1000
        writer.write_block(
            BlockBody(traffic.people, traffic.entries(int(REQUESTS_A_SECOND * FLUSH_S), now_us))
        )
    writer.close()
