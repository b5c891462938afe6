"""Many different accesses and ACLs, decided by joins and by the authorizer alone."""

import pyarrow as pa

from benchmarks.pipeline.data import access_rows, random_acls
from benchmarks.pipeline.ratio import Bench, Ratio, faster, tell, time_sliced
from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.acls.authorizer_decisions import decide_access
from kafka_shim.pipeline.engines.duckdb_engine import DuckDbEngine
from kafka_shim.pipeline.jobs.what_breaks import what_breaks
from kafka_shim.pipeline.tables import OBSERVED

BATCH = 10_000
BIG_ROUNDS = 3
SUPER_USER = "User:u7"


def s6_engine(bench: Bench) -> Ratio:
    """Compare the joins with the authorizer, which decides the same accesses one by one."""
    accesses, acls = bench.args.accesses, bench.args.acls
    tell(f"  {accesses} accesses and {acls} ACLs are made")
    acl_set = AclSet(tuple(random_acls(acls)), (SUPER_USER,))
    numbers = ([*range(at, min(at + BATCH, accesses))] for at in range(0, accesses, BATCH))
    table = pa.Table.from_batches([access_rows(number, acls) for number in numbers], OBSERVED)

    def by_joins() -> int:
        engine = DuckDbEngine()
        found = engine.sql(
            "select cast(sum(requests) as bigint) as requests from {changes}",
            changes=what_breaks(engine, engine.relation_from_arrow(table), acl_set),
        )
        return int(engine.rows(found)[0]["requests"])

    def one_by_one() -> int:
        authorizer = acl_set.build_authorizer()
        return sum(
            row["requests"]
            for batch in table.to_batches()
            for row in batch.to_pylist()
            if decide_access(authorizer, row).allowed != row["allowed"]
        )

    assert by_joins() == one_by_one(), "the authorizer and the joins differ"
    return faster("S6", "joins", "authorizer", time_sliced(by_joins, one_by_one, BIG_ROUNDS), 1.2)
