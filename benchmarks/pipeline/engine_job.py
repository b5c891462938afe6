"""One question about given accesses and ACLs, timed in its own process.

    python -m benchmarks.pipeline.engine_job WAY JOB ACCESSES ACLS

WAY is `duckdb`, `spark` or `sql` (`hand_sql`). Prints a JSON object: the numbers of findings and of
their requests, and the time from the accesses in Parquet and the ACLs in CSV to these, after the
engine's start; Spark's is that of its JVM and of its Python workers, which read traces before.
"""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from benchmarks.pipeline import hand_sql
from benchmarks.pipeline.ratio import processor_seconds
from kafka_shim.pipeline.acls.acl_set import AclSet, read_distinct_acls_from_file
from kafka_shim.pipeline.engines.engine import Relation
from kafka_shim.pipeline.engines.spark_engine import SparkEngine
from kafka_shim.pipeline.jobs.unused_acls import unused_acls
from kafka_shim.pipeline.jobs.what_breaks import what_breaks
from kafka_shim.pipeline.local_runner import keep_pyarrow_from_importing_pandas
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


def start_engine(way: str) -> TraceInput:
    """Return an input of no traces, whose engines are those of a command."""
    keep_pyarrow_from_importing_pandas()
    on_spark = way == "spark"
    empty = spark_trace_input(spark_session("local[2]"), []) if on_spark else local_trace_input([])
    empty.to_deciding_engine(empty.reader.sql("select 1 as one"))
    return empty


def read_accesses(empty: TraceInput, folder: str) -> str:
    """Return the distinct accesses, summed and kept as for a command."""
    if isinstance(empty.reader, SparkEngine):
        # with the schema, as a lake is read
        rows: Relation = empty.spark.read.schema(spark_ddl(OBSERVED)).parquet(folder)
    else:
        files = [str(path) for path in sorted(Path(folder).iterdir())]
        rows = empty.engine.create_parquet_view(files, [*OBSERVED.names])
    return empty.to_deciding_engine(sum_equal_accesses(empty.reader, rows))


def run_job(empty: TraceInput, job: str, folder: str, acls: str) -> dict[str, int]:
    """Return the number of findings of a job, and of their requests."""
    engine = empty.engine
    accesses = read_accesses(empty, folder)
    acl_set = AclSet(tuple(read_distinct_acls_from_file(acls)), (SUPER_USER,))
    ask: Callable[..., str] = unused_acls if job == "unused-acls" else what_breaks
    found = ask(engine, accesses, acl_set)
    query = "select count(*) as findings, cast(sum(requests) as bigint) as requests from {found}"
    (row,) = engine.rows(engine.sql(query, found=found))
    return row


def main() -> None:
    way, job, accesses, acls = sys.argv[1:]
    empty = start_engine(way)
    used, begin = processor_seconds(os.getpid()), time.perf_counter()
    if way == "sql":
        row = hand_sql.ask(job, accesses, acls, SUPER_USER)
    else:
        row = run_job(empty, job, accesses, acls)
    seconds = time.perf_counter() - begin
    used = processor_seconds(os.getpid()) - used
    print(msgspec.json.encode(TimedResult(**row, seconds=seconds, processor_seconds=used)).decode())


if __name__ == "__main__":
    main()
