"""Many different accesses against many ACLs: the authorizer in workers, SQL, and one process."""

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as f

from authorizer.implied import allowing, denying
from benchmarks.spark_data import access_rows, random_acls
from pipeline.acl_set import AclSet
from pipeline.tables import OBSERVED, ddl
from pipeline.verdict import JUDGED, judge
from protocol.enums import Operation, PatternType, Permission

BATCH = 10_000
_ACLS = pa.schema(
    [
        ("by", pa.string()),
        ("asked", pa.string()),
        ("prefixed", pa.bool_()),
        ("pattern", pa.string()),
        ("allows", pa.bool_()),
    ]
)
Answer = Callable[[], tuple[int, int]]
"""Tells how many are denied and allowed."""


def engine_and_join(spark: Any, accesses: int, acls: int) -> tuple[Answer, Answer]:
    candidate = random_acls(acls)
    acl_set = AclSet(tuple(candidate))

    def rows(source: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in source:
            yield access_rows(batch.column(0).to_pylist(), acls)

    frame = spark.range(0, accesses, 1, 8).mapInArrow(rows, ddl(OBSERVED)).persist()
    assert frame.count() == accesses
    table = _acl_table(spark, candidate).persist()
    table.count()

    def engine() -> tuple[int, int]:  # a new plan each time: Spark would reuse an old one's work
        return _counted(frame.mapInArrow(judge(acl_set), ddl(JUDGED)), "would_be_allowed")

    def join() -> tuple[int, int]:
        return _counted(_joined(frame, table), "is_allowed")

    return engine, join


def _counted(frame: Any, column: str) -> tuple[int, int]:
    found = {row[column]: row["count"] for row in frame.groupBy(column).count().collect()}
    return found.get(False, 0), found.get(True, 0)


def _acl_table(spark: Any, acls: list[Any]) -> Any:
    """One row for each operation that an ACL speaks to."""
    rows = []
    for acl in acls:
        is_allow = acl.permission is Permission.ALLOW
        for asked in (Operation.READ, Operation.WRITE, Operation.DESCRIBE):
            if acl.operation in (allowing if is_allow else denying)(asked):
                prefixed = acl.pattern_type is PatternType.PREFIXED
                values = (acl.principal, asked.name, prefixed, acl.resource_name, is_allow)
                rows.append(dict(zip(_ACLS.names, values, strict=True)))
    return spark.createDataFrame(pa.Table.from_pylist(rows, _ACLS))


def _joined(accesses: Any, acls: Any) -> Any:
    """Each name, of which there is one row, with its prefixes of the lengths that occur."""
    lengths = [
        row[0] for row in acls.where("prefixed").select(f.length("pattern")).distinct().collect()
    ]
    prefixes = [
        f.struct(f.lit(True).alias("prefixed"), f.substring("resource_name", 1, n).alias("pattern"))
        for n in lengths
    ]
    literals = [
        f.struct(f.lit(False).alias("prefixed"), name.alias("pattern"))
        for name in (f.col("resource_name"), f.lit("*"))
    ]
    by = f.explode(f.array("principal", f.lit("User:*")))
    keyed = accesses.select("resource_name", f.col("operation").alias("asked"), by.alias("by"))
    keys = f.explode(f.array_distinct(f.array(*literals, *prefixes)))
    wide = keyed.withColumn("key", keys).select("resource_name", "by", "asked", "key.*")
    matched = wide.join(f.broadcast(acls), ["by", "asked", "prefixed", "pattern"], "left")
    is_allowed = f.coalesce(f.bool_and("allows"), f.lit(False))
    return matched.groupBy("resource_name").agg(is_allowed.alias("is_allowed"))


def one_process(accesses: int, acls: int) -> Callable[[], int]:
    """The same functions without Spark; tells how many are denied."""
    plain = [
        access_rows(list(range(at, min(at + BATCH, accesses))), acls)
        for at in range(0, accesses, BATCH)
    ]
    candidate = AclSet(tuple(random_acls(acls)))

    def denied() -> int:
        verdicts = (batch.column("would_be_allowed") for batch in judge(candidate)(iter(plain)))
        return sum(len(one) - one.true_count for one in verdicts)

    return denied
