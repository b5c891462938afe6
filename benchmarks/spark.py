"""The pipeline on Spark against the same functions in one Python process; decisions at scale.

    python benchmarks/spark.py [--requests N] [--accesses N] [--acls N] [--json] [--check]

Every comparison first checks that both sides found the same.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from authorizer.model import Acl
from pipeline.acl_set import AclSet
from pipeline.batches import batches, plan, regroup
from pipeline.jobs.ingest import ingest
from pipeline.jobs.what_breaks import what_breaks
from pipeline.observed import observed
from pipeline.reading import Source
from pipeline.requisites import missing
from pipeline.rows import Selection
from pipeline.session import spark_session
from pipeline.source import trace_table
from pipeline.tables import OBSERVED, ddl
from pipeline.verdict import judge
from protocol import codecs
from protocol.api_versions import RELEASES
from protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from protocol.headers import RequestHeader, write_request_header
from protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from protocol.trace.entries import Access, Body, Connection, Request
from protocol.trace.segments import SegmentWriter

GOALS = {"observed": 1.2, "two cores": 1.3, "a lake": 3.0, "ingest again": 5.0}
ENTRIES_A_BLOCK = 2000
WHEN = datetime(2026, 1, 1, tzinfo=UTC)


def best(what: Callable[[], Any], rounds: int = 3) -> float:
    took = []
    for _ in range(rounds):
        begin = time.perf_counter()
        what()
        took.append(time.perf_counter() - begin)
    return min(took)


def make_trace(folder: Path, requests: int) -> None:
    """Fetch requests of 300 principals for 3,000 topics, two each, with their accesses."""
    rng = random.Random(1)
    writer = SegmentWriter(folder, "bench", segment_bytes=16 << 20)
    header = write_request_header(RequestHeader(ApiKey.FETCH, 11, 1, "bench"))
    people = [
        Connection(n, n, 1, "SASL", f"10.0.0.{n % 30}", 1000 + n, f"User:u{n}") for n in range(300)
    ]
    entries: list[Any] = []
    for n in range(requests):
        who, names = (
            rng.randrange(300),
            [f"topic-{int(rng.paretovariate(0.7)) % 3000}" for _ in "ab"],
        )
        message = FetchRequest(
            topics=[FetchTopic(topic=t, partitions=[FetchPartition()]) for t in names]
        )
        frame = header + codecs.write_request(message, 11)
        when = n * 100
        entries.append(Request(who, n, when, frame))
        entries += [
            Access(who, n, when, ApiKey.FETCH, 11, Operation.READ, ResourceType.TOPIC, t, True, "x")
            for t in names
        ]
        if len(entries) >= ENTRIES_A_BLOCK:
            writer.write(Body(people, entries))
            entries = []
    if entries:
        writer.write(Body(people, entries))
    writer.close()


def in_one_process(folder: Path) -> int:
    found = [
        batch for split in plan([str(folder)]) for batch in batches("observed", split, Selection())
    ]
    return regroup(pa.Table.from_batches(found, OBSERVED)).num_rows


def reading(spark: Any, folder: Path, lake: Path) -> dict[str, tuple[float, float]]:
    """(seconds of ours, seconds of the other) by what is compared."""
    paths = [str(folder)]
    counted = observed(spark, paths).count()
    assert counted == in_one_process(folder)
    ours = best(lambda: observed(spark, paths).count())
    found = {"observed": (ours, best(lambda: in_one_process(folder), 2))}
    single = {"splitBytes": str(1 << 40)}
    whole = trace_table(spark, "observed", paths, single).coalesce(1)
    found["two cores"] = (ours, best(lambda: whole.groupBy("principal").count().collect(), 2))
    begin = time.perf_counter()
    ingest(spark, paths, lake, RELEASES[-1])
    first = time.perf_counter() - begin
    again = best(lambda: ingest(spark, paths, lake, RELEASES[-1]))
    found["ingest again"] = (again, first)
    kept = Source(spark, [str(lake)], {})
    assert kept.observed().count() == counted
    found["a lake"] = (best(lambda: kept.observed().count()), first + ours)
    return found


def random_acls(count: int) -> list[Acl]:
    """Literal and prefixed, allow and deny, of principals and of everybody."""
    rng = random.Random(2)
    found = {}
    while len(found) < count:
        n = rng.randrange(count)
        prefixed = rng.random() < 0.2
        name = f"team-{n % 5000}." + ("" if prefixed else f"topic-{n}")
        acl = Acl(
            ResourceType.TOPIC,
            name,
            PatternType.PREFIXED if prefixed else PatternType.LITERAL,
            f"User:u{rng.randrange(3000)}" if rng.random() < 0.95 else "User:*",
            "*",
            rng.choice((Operation.READ, Operation.WRITE, Operation.ALL)),
            Permission.DENY if rng.random() < 0.05 else Permission.ALLOW,
        )
        found[acl] = None
    return list(found)


def access_rows(numbers: list[int], acls: int) -> pa.RecordBatch:
    """One different access for each number, all of them said to have been allowed."""
    columns: dict[str, Any] = {name: [None] * len(numbers) for name in OBSERVED.names}
    columns["principal"] = [f"User:u{n % 3000}" for n in numbers]
    columns["host"] = ["10.0.0.1"] * len(numbers)
    columns["api_key"] = [1] * len(numbers)
    columns["operation"] = [("READ", "WRITE", "DESCRIBE")[n % 3] for n in numbers]
    columns["resource_type"] = ["TOPIC"] * len(numbers)
    columns["resource_name"] = [
        f"team-{n % 5000}.topic-{n % acls}.{n // acls}"[:40] for n in numbers
    ]
    columns["role"] = ["required"] * len(numbers)
    columns["instead"] = [[]] * len(numbers)
    columns["allowed"] = [True] * len(numbers)
    columns["requests"] = [1] * len(numbers)
    columns["first_seen"] = columns["last_seen"] = [WHEN] * len(numbers)
    arrays = [pa.array(columns[field.name], field.type) for field in OBSERVED]
    return pa.RecordBatch.from_arrays(arrays, schema=OBSERVED)


def deciding(spark: Any, accesses: int, acls: int) -> tuple[float, float, int]:
    """Seconds of Spark and of one process for a what-breaks, and what it found."""
    candidate = AclSet(tuple(random_acls(acls)))

    def rows(source: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in source:
            yield access_rows(batch.column(0).to_pylist(), acls)

    frame = spark.range(0, accesses, 1, 8).mapInArrow(rows, ddl(OBSERVED)).persist()
    assert frame.count() == accesses

    def on_spark() -> int:  # a new plan each time: Spark would reuse what an old one shuffled
        judged = what_breaks(frame, candidate).groupBy().sum("requests")
        return int(judged.collect()[0][0])

    spark_found = on_spark()
    ours = best(on_spark, 2)
    plain = [access_rows(list(range(at, at + 10_000)), acls) for at in range(0, accesses, 10_000)]
    denied = 0

    def one_process() -> None:
        nonlocal denied
        denied = 0
        for batch in judge(candidate)(iter(plain)):
            verdicts = batch.column("would_be_allowed")
            denied += len(verdicts) - verdicts.true_count

    other = best(one_process, 1)
    assert denied == spark_found, (denied, spark_found)
    frame.unpersist()
    return ours, other, denied


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=300_000)
    parser.add_argument("--accesses", type=int, default=1_000_000)
    parser.add_argument("--acls", type=int, default=100_000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit 3 when a goal is missed")
    args = parser.parse_args()
    problem = missing()
    if problem is not None:
        sys.exit(f"benchmarks/spark.py: {problem}")
    spark = spark_session(f"local[{min(2, os.cpu_count() or 1)}]", is_short=False)
    with tempfile.TemporaryDirectory() as folder:
        make_trace(Path(folder, "trace"), args.requests)
        size = sum(path.stat().st_size for path in Path(folder, "trace").iterdir())
        found = reading(spark, Path(folder, "trace"), Path(folder, "lake"))
    ours, other, denied = deciding(spark, args.accesses, args.acls)
    found["what-breaks"] = (ours, other)
    if args.json:
        print(json.dumps({"bytes": size, "seconds": found, "newly_denied": denied}, indent=2))
    else:
        print(
            f"{args.requests} requests, {size >> 20} MiB;"
            f" {args.accesses} accesses, {args.acls} ACLs"
        )
        for name, (one, two) in found.items():
            print(f"{name:14} {one:8.2f} s   {two:8.2f} s   x{two / one:.2f}")
    missed = [name for name, goal in GOALS.items() if found[name][1] / found[name][0] < goal]
    if missed:
        print(f"missed: {', '.join(missed)}", file=sys.stderr)
    sys.exit(3 if missed and args.check else 0)


if __name__ == "__main__":
    main()
