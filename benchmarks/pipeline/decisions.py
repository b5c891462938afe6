"""Many different accesses and ACLs, decided by both engines and by the authorizer alone."""

from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec
import pyarrow as pa

from benchmarks.pipeline.data import access_rows, random_acls
from benchmarks.pipeline.ratio import Bench, Ratio, faster, tell, time_sliced
from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.acls.verdict import decide_access
from kafka_shim.pipeline.engines.duckdb_engine import DuckDbEngine
from kafka_shim.pipeline.engines.engine import Relation, SqlEngine
from kafka_shim.pipeline.engines.spark_engine import SparkEngine
from kafka_shim.pipeline.jobs.what_breaks import what_breaks
from kafka_shim.pipeline.tables import OBSERVED, spark_ddl

BATCH = 10_000
BIG_ROUNDS = 3
SUPER_USER = "User:u7"


class Decisions(msgspec.Struct):
    """Implementations of the same decisions; each returns the number of changed ones."""

    on_spark: Callable[[], int]
    embedded: Callable[[], int]
    in_one_process: Callable[[], int]


@cache
def decisions(spark: Any, accesses: int, acls: int) -> Decisions:
    """Prepare the accesses, cached by Spark or in memory."""
    tell(f"  {accesses} accesses and {acls} ACLs are made")
    acl_set = AclSet(tuple(random_acls(acls)), (SUPER_USER,))
    numbers = ([*range(at, min(at + BATCH, accesses))] for at in range(0, accesses, BATCH))
    table = pa.Table.from_batches([access_rows(number, acls) for number in numbers], OBSERVED)

    def rows(source: Any) -> Any:
        for batch in source:
            yield access_rows(batch.column(0).to_pylist(), acls)

    frame = spark.range(0, accesses, 1, 8).mapInArrow(rows, spark_ddl(OBSERVED)).persist()
    assert frame.count() == accesses

    def changed(engine: SqlEngine, relation: Relation) -> int:
        found = engine.sql(
            "select cast(sum(requests) as bigint) as requests from {changes}",
            changes=what_breaks(engine, relation, acl_set),
        )
        return int(engine.rows(found)[0]["requests"])

    def embedded() -> int:
        engine = DuckDbEngine()
        return changed(engine, engine.relation_from_arrow(table))

    def in_one_process() -> int:
        authorizer = acl_set.build_authorizer()
        return sum(
            row["requests"]
            for batch in table.to_batches()
            for row in batch.to_pylist()
            if decide_access(authorizer, row).allowed != row["allowed"]
        )

    return Decisions(lambda: changed(SparkEngine(spark), frame), embedded, in_one_process)


def s6_engine(bench: Bench) -> Ratio:
    """Compare the joins with the authorizer, which decides the same accesses one by one."""
    ways = decisions(bench.spark, bench.args.accesses, bench.args.acls)
    assert ways.embedded() == ways.in_one_process(), "the authorizer and the joins differ"
    times = time_sliced(ways.embedded, ways.in_one_process, BIG_ROUNDS)
    return faster("S6", "joins in DuckDB", "authorizer", times, 1.2)


def what_breaks_speedup_of_duckdb_over_spark(bench: Bench) -> Ratio:
    """Compare both engines; no goal, since DuckDB is for data that fits on one machine."""
    ways = decisions(bench.spark, bench.args.accesses, bench.args.acls)
    assert ways.on_spark() == ways.embedded()
    times = time_sliced(ways.embedded, ways.on_spark, BIG_ROUNDS)
    return faster("what-breaks", "DuckDB", "Spark, two cores", times, None)
