"""From traces to rows: the data source, plain Python, tuples, and one core."""

import json
import multiprocessing
from typing import Any

import pyarrow as pa

from benchmarks.pipeline.ratio import Bench, Ratio, faster, time_sliced
from benchmarks.pipeline.tuples import TuplesSource
from kafka_shim.pipeline.rows.batches import Split, plan_splits, sum_equal_rows, table_batches
from kafka_shim.pipeline.rows.selection import Selection
from kafka_shim.pipeline.spark.data_source import trace_table
from kafka_shim.pipeline.tables import OBSERVED

DISTINCT = "distinct accesses"


def distinct_in(split: Split) -> bytes:
    """Return the distinct accesses of a split as Arrow IPC, as processes exchange them."""
    table = pa.Table.from_batches(list(table_batches("observed", split, Selection())), OBSERVED)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, OBSERVED) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def added(parts: list[bytes]) -> int:
    tables = [pa.ipc.open_stream(part).read_all() for part in parts]
    return int(sum_equal_rows(pa.concat_tables(tables)).num_rows)


def s1_one_process(bench: Bench) -> Ratio:
    def plain() -> int:
        return added([distinct_in(split) for split in plan_splits(bench.paths)])

    assert plain() == bench.count()
    return faster("S1", DISTINCT, "one process", time_sliced(bench.count, plain), 1.3)


def s2_two_processes(bench: Bench) -> Ratio:
    def pooled() -> int:
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            return added(pool.map(distinct_in, plan_splits(bench.paths), chunksize=1))

    assert pooled() == bench.count()
    return faster("S2", DISTINCT, "pool of two", time_sliced(bench.count, pooled), 0.85)


def two_cores(bench: Bench) -> Ratio:
    def single() -> Any:
        rows = trace_table(bench.spark, "observed", bench.paths).coalesce(1)
        return rows.groupBy("principal").count().collect()

    def double() -> Any:
        rows = trace_table(bench.spark, "observed", bench.paths)
        return rows.groupBy("principal").count().collect()

    return faster("cores", "two cores", "one core", time_sliced(double, single), 1.3)


def s3_arrow_batches(bench: Bench) -> Ratio:
    bench.spark.dataSource.register(TuplesSource)

    def read(form: str) -> None:
        reader = bench.spark.read.format(form).option("paths", json.dumps(bench.paths))
        reader.load().write.format("noop").mode("overwrite").save()

    times = time_sliced(lambda: read("kafka_trace"), lambda: read(TuplesSource.name()))
    return faster("S3", "Arrow batches", "tuples", times, 1.25)
