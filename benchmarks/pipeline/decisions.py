"""Many different accesses and ACLs, decided by the job, in one process, and in SQL."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as f

from benchmarks.pipeline.data import access_rows, random_acls
from benchmarks.pipeline.ratio import Bench, Ratio, faster, tell, time_sliced
from kafka_shim.authorizer.acl_formats.trace_rule import format_acl_rule
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.operations import (
    operations_whose_allow_includes,
    operations_whose_deny_includes,
)
from kafka_shim.pipeline.acls.acl_set import AclSet, pack_acl_set
from kafka_shim.pipeline.acls.verdict import allowed_and_rule_of_accesses
from kafka_shim.pipeline.rows.access_row import DECISION_COLUMNS
from kafka_shim.pipeline.spark.decision_columns import with_would_be_decisions
from kafka_shim.pipeline.tables import OBSERVED, spark_ddl
from kafka_shim.protocol.enums import Operation, PatternType, Permission

BATCH = 10_000
BIG_ROUNDS = 3
SUPER_USER = "User:u7"
_KEYS = ("principal", "host", "operation", "resource_name")
_ACLS = pa.schema(
    [
        ("by", pa.string()),
        ("from", pa.string()),
        ("asked", pa.string()),
        ("prefixed", pa.bool_()),
        ("pattern", pa.string()),
        ("allows", pa.bool_()),
        ("place", pa.int32()),
    ]
)
Denied = tuple[int, int]
"""The number of denied accesses, and a checksum of all accesses with verdicts and rules."""


class Decisions(msgspec.Struct):
    """Implementations of the same decisions; those in the second half only count denials."""

    on_spark: Callable[[], Denied]
    in_sql: Callable[[], Denied]
    on_two_cores: Callable[[], int]
    on_one_core: Callable[[], int]
    in_one_process: Callable[[], int]


@cache
def decisions(spark: Any, accesses: int, acls: int) -> Decisions:
    """Prepare the accesses, cached by Spark or in memory."""
    tell(f"  {accesses} accesses and {acls} ACLs are made")
    candidate = random_acls(acls)
    acl_set = AclSet(tuple(candidate), (SUPER_USER,))

    def rows(source: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in source:
            yield access_rows(batch.column(0).to_pylist(), acls)

    frame = spark.range(0, accesses, 1, 8).mapInArrow(rows, spark_ddl(OBSERVED)).persist()
    assert frame.select(*_KEYS).distinct().count() == accesses
    ordered = sorted(candidate, key=_order)
    table = _acl_table(spark, ordered).persist()
    rules = spark.createDataFrame(
        [*enumerate(map(format_acl_rule, ordered))], "place int, named string"
    )
    rules.persist()
    assert table.count() > rules.count() > 0
    numbers = ([*range(at, min(at + BATCH, accesses))] for at in range(0, accesses, BATCH))
    plain = [access_rows(number, acls).select(DECISION_COLUMNS).columns for number in numbers]

    def on_spark() -> Denied:  # a new plan each time, since Spark would reuse results
        return _denied(with_would_be_decisions(frame, acl_set))

    def in_sql() -> Denied:
        return _denied(_joined(frame, table, rules))

    def denied_on_spark(rows: Any) -> int:
        denied = f.count_if(~f.col("would_be_allowed"))
        return int(with_would_be_decisions(rows, acl_set).agg(denied).collect()[0][0])

    def on_two_cores() -> int:
        return denied_on_spark(frame)

    def on_one_core() -> int:
        return denied_on_spark(frame.coalesce(1))

    def in_one_process() -> int:
        judge = pack_acl_set(acl_set).cached_authorizer()
        found = (allowed_and_rule_of_accesses(judge, columns).field("allowed") for columns in plain)
        return sum(pc.sum(pc.invert(allowed)).as_py() for allowed in found)

    return Decisions(on_spark, in_sql, on_two_cores, on_one_core, in_one_process)


def s6_engine(bench: Bench) -> Ratio:
    ways = decisions(bench.spark, bench.args.accesses, bench.args.acls)
    assert ways.on_spark() == ways.in_sql(), "the authorizer and the SQL join differ"
    times = time_sliced(ways.on_spark, ways.in_sql, BIG_ROUNDS)
    return faster("S6", "authorizer in workers", "SQL join", times, 1.2)


def what_breaks_cores(bench: Bench) -> Ratio:
    ways = decisions(bench.spark, bench.args.accesses, bench.args.acls)
    assert ways.on_two_cores() == ways.on_one_core()
    times = time_sliced(ways.on_two_cores, ways.on_one_core, BIG_ROUNDS)
    return faster("what-breaks", "two cores", "one core", times, 1.25)


def what_breaks_process(bench: Bench) -> Ratio:
    """Compare with the authorizer alone in one process; no goal, since it has no data to move."""
    ways = decisions(bench.spark, bench.args.accesses, bench.args.acls)
    assert ways.on_two_cores() == ways.in_one_process()
    times = time_sliced(ways.on_two_cores, ways.in_one_process, BIG_ROUNDS)
    return faster("what-breaks process", "two cores", "one process", times, None)


def _denied(rows: Any) -> Denied:
    verdict = f.xxhash64(*_KEYS, "would_be_allowed", "would_be_rule")
    found = rows.agg(f.count_if(~f.col("would_be_allowed")), f.bit_xor(verdict)).collect()[0]
    return found[0], found[1]


def _order(acl: Acl) -> tuple[Any, ...]:
    """Return a sort key: the order in which a broker reads matching ACLs
    (literals, prefixes, `*`).
    """
    is_prefix = acl.pattern_type is PatternType.PREFIXED
    pattern = -len(acl.resource_name) if is_prefix else -(1 << 20) * (acl.resource_name != "*")
    is_last = not is_prefix and acl.resource_name == "*"
    return (is_last, pattern, acl.operation, acl.principal, acl.host)


def _acl_table(spark: Any, acls: list[Acl]) -> Any:
    """Return a row for each operation that an ACL applies to, with its place in that order."""
    rows = []
    for place, acl in enumerate(acls):
        is_allow = acl.permission is Permission.ALLOW
        for asked in (Operation.READ, Operation.WRITE, Operation.DESCRIBE):
            if acl.operation in (
                operations_whose_allow_includes if is_allow else operations_whose_deny_includes
            )(asked):
                prefixed = acl.pattern_type is PatternType.PREFIXED
                who = (acl.principal, acl.host)
                values = (*who, asked.name, prefixed, acl.resource_name, is_allow, place)
                rows.append(dict(zip(_ACLS.names, values, strict=True)))
    return spark.createDataFrame(pa.Table.from_pylist(rows, _ACLS))


def _joined(accesses: Any, acls: Any, rules: Any) -> Any:
    """Join each access, with its prefixes of the existing lengths, with the ACLs that apply.

    The result is the authorizer's: super users are allowed, then the first DENY wins, else the last
    ALLOW.
    """
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
    keyed = accesses.select(*_KEYS, f.col("operation").alias("asked"), by.alias("by"))
    keys = f.explode(f.array_distinct(f.array(*literals, *prefixes)))
    wide = keyed.withColumn("key", keys).select(*_KEYS, "asked", "by", "key.*")
    matched = wide.join(f.broadcast(acls), ["by", "asked", "prefixed", "pattern"], "left")
    applies = f.col("from").isin("*") | (f.col("from") == f.col("host"))
    said = matched.groupBy(*_KEYS).agg(
        f.min(f.when(applies & ~f.col("allows"), f.col("place"))).alias("denied_by"),
        f.max(f.when(applies & f.col("allows"), f.col("place"))).alias("allowed_by"),
    )
    place = f.coalesce("denied_by", "allowed_by").alias("place")
    named = said.select("*", place).join(f.broadcast(rules), "place", "left")
    is_super = f.col("principal") == SUPER_USER
    is_allowed = f.col("denied_by").isNull() & f.col("allowed_by").isNotNull()
    rule = f.when(is_super, "SuperUser").otherwise(f.coalesce("named", f.lit("DefaultDeny")))
    return named.select(
        *_KEYS, (is_super | is_allowed).alias("would_be_allowed"), rule.alias("would_be_rule")
    )
