"""Lakes: reading them without the trace, and updating them without new data."""

import time
from pathlib import Path

from benchmarks.pipeline.ratio import ROUNDS, Bench, Ratio, faster, time_sliced, took
from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.jobs.ingest import ingest_new_data
from kafka_shim.pipeline.jobs.what_breaks import what_breaks
from kafka_shim.pipeline.spark.trace_tables import lake_table
from kafka_shim.pipeline.trace_input import spark_trace_input
from kafka_shim.protocol.api_versions import RELEASES


def s7_lake(bench: Bench) -> Ratio:
    lake = bench.folder / "lake-7"

    def changes(path: Path) -> int:
        found = spark_trace_input(bench.spark, [str(path)], {})
        accesses = found.to_deciding_engine(found.distinct_accesses())
        return found.engine.count_rows(what_breaks(found.engine, accesses, AclSet(())))

    def ask() -> int:
        return changes(lake)

    def all_again() -> int:
        folder = bench.folder / f"lake-{time.monotonic_ns()}"
        ingest_new_data(bench.spark, bench.paths, folder, RELEASES[-1])
        return changes(folder)

    ingest_new_data(bench.spark, bench.paths, lake, RELEASES[-1])
    assert ask() == all_again() > 0
    return faster("S7", "what-breaks of a lake", "with ingest", time_sliced(ask, all_again), 3)


def s9_nothing_new(bench: Bench) -> Ratio:
    """Check that a second ingest adds no row and takes at most two seconds."""
    lake = bench.folder / "lake-9"
    ingest_new_data(bench.spark, bench.paths, lake, RELEASES[-1])
    before = lake_table(bench.spark, "accesses", lake).count()
    times = [
        took(lambda: ingest_new_data(bench.spark, bench.paths, lake, RELEASES[-1]))
        for _ in range(ROUNDS)
    ]
    assert lake_table(bench.spark, "accesses", lake).count() == before
    return faster("S9", "ingest, nothing new", "two seconds", (min(times), 2.0), 1)
