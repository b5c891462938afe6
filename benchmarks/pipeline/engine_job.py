"""One job of one engine on given accesses and ACLs, timed in its own process.

    python -m benchmarks.pipeline.engine_job ENGINE JOB ACCESSES ACLS

ENGINE is `local` or `spark`. Prints a JSON object: the numbers of findings and of their requests,
and the time from the accesses in Parquet and the ACLs in CSV to these, after the engine's start,
with the processor time by work (`thread_times`).
"""

import os
import sys
import time
from pathlib import Path

import msgspec

from benchmarks.pipeline.ratio import processor_seconds
from benchmarks.pipeline.thread_times import seconds_by_work
from kafka_shim.pipeline.acl_decisions import acl_relations_in_background
from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.engines.duckdb_engine import DuckDbEngine
from kafka_shim.pipeline.engines.engine import Relation
from kafka_shim.pipeline.engines.spark_engine import SparkEngine
from kafka_shim.pipeline.jobs.denials import denials
from kafka_shim.pipeline.jobs.what_breaks import what_breaks
from kafka_shim.pipeline.local.pandas_import import keep_pyarrow_from_importing_pandas
from kafka_shim.pipeline.observation import sum_equal_accesses
from kafka_shim.pipeline.spark.session import spark_session
from kafka_shim.pipeline.tables import OBSERVED, spark_ddl
from kafka_shim.pipeline.trace_input import TraceInput, local_trace_input, spark_trace_input

SUPER_USER = "User:u7"


class TimedResult(msgspec.Struct):
    """The result, elapsed seconds, and seconds of processor time of all processes."""

    findings: int
    requests: int
    seconds: float
    processor_seconds: float
    seconds_by_work: dict[str, float]


def start_engine(name: str) -> TraceInput:
    """Return an input of no traces, whose engines are those of a command."""
    keep_pyarrow_from_importing_pandas()
    on_spark = name == "spark"
    empty = spark_trace_input(spark_session("local[2]"), []) if on_spark else local_trace_input([])
    empty.engine.rows(empty.engine.sql("select 1 as one"))
    return empty


def read_accesses(empty: TraceInput, folder: str) -> Relation:
    """Return the distinct accesses, which the deciding engine keeps as for a command."""
    engine = empty.engine
    if isinstance(engine, DuckDbEngine):
        files = [str(path) for path in sorted(Path(folder).iterdir())]
        rows: Relation = engine.parquet_files(files, [*OBSERVED.names])
    else:
        assert isinstance(engine, SparkEngine)
        # with the schema, as a lake is read
        rows = engine.session.read.schema(spark_ddl(OBSERVED)).parquet(folder)
        rows = sum_equal_accesses(engine, rows)
    return empty.deciding_engine.computed_once(empty.hand_over(rows))


def run_job(empty: TraceInput, job: str, accesses: str, acls: str) -> Relation:
    """Read the ACLs while the engine reads the accesses, as the command does, and run the job."""
    engine = empty.deciding_engine
    if job == "denials":
        return denials(engine, read_accesses(empty, accesses))
    reading = acl_relations_in_background(engine, acls)
    rows = read_accesses(empty, accesses)
    relations = reading.result()
    acl_set = AclSet(relations.listed_acls, (SUPER_USER,))
    return what_breaks(engine, rows, acl_set, candidate_relations=relations)


def main() -> None:
    engine_name, job, accesses, acls = sys.argv[1:]
    empty = start_engine(engine_name)
    engine = empty.deciding_engine
    before = seconds_by_work(os.getpid())
    used, begin = processor_seconds(os.getpid()), time.perf_counter()
    totals = engine.sql(
        "select count(*) as findings, cast(sum(requests) as bigint) as requests from {findings}",
        findings=run_job(empty, job, accesses, acls),
    )
    (row,) = engine.rows(totals)
    seconds = time.perf_counter() - begin
    used = processor_seconds(os.getpid()) - used
    works = seconds_by_work(os.getpid()) - before
    result = TimedResult(**row, seconds=seconds, processor_seconds=used, seconds_by_work={**works})
    print(msgspec.json.encode(result).decode())


if __name__ == "__main__":
    main()
