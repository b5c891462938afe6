"""The pipeline on Spark, as ratios between two ways to do the same on this machine in this run.

    python -m benchmarks.spark [--requests N] [--accesses N] [--acls N] [--only NAME,...]
                              [--json] [--check]

Both ways' results are compared first; they take turns, and the best of each counts. Spark has two
cores and one GiB. Skimming against decoding (S10) is in `benchmarks/codec.py`.
"""

import argparse
import functools
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from benchmarks.spark_data import make_trace
from benchmarks.spark_decisions import engine_and_join, one_process
from benchmarks.spark_follow import ages
from benchmarks.spark_tuples import TuplesSource
from pipeline.acl_set import AclSet
from pipeline.batches import Split, batches, plan, regroup
from pipeline.jobs.ingest import ingest, lake_table
from pipeline.jobs.what_breaks import what_breaks
from pipeline.observed import observed
from pipeline.reading import Source
from pipeline.requisites import missing
from pipeline.rows import Selection
from pipeline.session import spark_session
from pipeline.source import trace_table
from pipeline.tables import OBSERVED
from protocol.api_versions import RELEASES

ROOT = Path(__file__).parents[1]
ROUNDS = 3


class Ratio(msgspec.Struct):
    """How many times the one takes what the other does; `goal` is the least, if there is one."""

    name: str
    ours: str
    other: str
    ours_s: float
    other_s: float
    goal: float | None

    @property
    def value(self) -> float:
        return self.other_s / self.ours_s

    @property
    def is_met(self) -> bool:
        return self.goal is None or self.value >= self.goal


def took(what: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    what()
    return time.perf_counter() - begin


def in_turns(ours: Callable[[], Any], other: Callable[[], Any]) -> tuple[float, float]:
    """The best of each, after one round that does not count."""
    ours()
    other()
    pairs = [(took(ours), took(other)) for _ in range(ROUNDS)]
    return min(one for one, _ in pairs), min(two for _, two in pairs)


class Bench(msgspec.Struct):
    """The session and the trace that all look at."""

    spark: Any
    folder: Path
    args: argparse.Namespace

    @property
    def paths(self) -> list[str]:
        return [str(self.folder / "trace")]

    def count(self) -> int:
        return int(observed(self.spark, self.paths).count())


def distinct_in(split: Split) -> bytes:
    """The different accesses of one split, as Arrow's IPC: what a process hands to another."""
    table = pa.Table.from_batches(list(batches("observed", split, Selection())), OBSERVED)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, OBSERVED) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def added(parts: list[bytes]) -> int:
    tables = [pa.ipc.open_stream(part).read_all() for part in parts]
    return regroup(pa.concat_tables(tables)).num_rows


def s1_one_process(bench: Bench) -> Ratio:
    def plain() -> int:
        return added([distinct_in(split) for split in plan(bench.paths)])

    assert plain() == bench.count()
    return Ratio("S1", "distinct accesses", "one process", *in_turns(bench.count, plain), 1.3)


def s2_two_processes(bench: Bench) -> Ratio:
    def pooled() -> int:
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            return added(pool.map(distinct_in, plan(bench.paths), chunksize=1))

    assert pooled() == bench.count()
    return Ratio("S2", "distinct accesses", "pool of two", *in_turns(bench.count, pooled), 0.85)


def two_cores(bench: Bench) -> Ratio:
    def single() -> Any:
        rows = trace_table(bench.spark, "observed", bench.paths).coalesce(1)
        return rows.groupBy("principal").count().collect()

    def double() -> Any:
        rows = trace_table(bench.spark, "observed", bench.paths)
        return rows.groupBy("principal").count().collect()

    return Ratio("cores", "two cores", "one core", *in_turns(double, single), 1.3)


def s3_arrow_batches(bench: Bench) -> Ratio:
    bench.spark.dataSource.register(TuplesSource)

    def read(form: str) -> None:
        reader = bench.spark.read.format(form).option("paths", json.dumps(bench.paths))
        reader.load().write.format("noop").mode("overwrite").save()

    return Ratio(
        "S3",
        "Arrow batches",
        "tuples",
        *in_turns(lambda: read("kafka_trace"), lambda: read(TuplesSource.name())),
        1.25,
    )


def s6_engine(bench: Bench) -> Ratio:
    ours, other = engine_and_join(bench.spark, bench.args.accesses, bench.args.acls)
    assert ours() == other(), "the authorizer and the SQL join differ"
    return Ratio("S6", "authorizer in workers", "SQL join", *in_turns(ours, other), 1.2)


def decisions(bench: Bench) -> Ratio:
    ours, _ = engine_and_join(bench.spark, bench.args.accesses, bench.args.acls)
    other = one_process(bench.args.accesses, bench.args.acls)
    assert ours()[0] == other()
    times = in_turns(ours, other)
    return Ratio("what-breaks", "two cores", "one process", *times, None)


def s7_lake(bench: Bench) -> Ratio:
    lake = bench.folder / "lake-7"
    candidate = _candidate()

    def ask() -> int:
        found = Source(bench.spark, [str(lake)], {}).observed()
        return what_breaks(found, candidate).count()

    def all_again() -> int:
        folder = bench.folder / f"lake-{time.monotonic_ns()}"
        ingest(bench.spark, bench.paths, folder, RELEASES[-1])
        return what_breaks(Source(bench.spark, [str(folder)], {}).observed(), candidate).count()

    ingest(bench.spark, bench.paths, lake, RELEASES[-1])
    return Ratio("S7", "what-breaks of a lake", "with ingest", *in_turns(ask, all_again), 3)


def _candidate() -> Any:

    return AclSet(())


def s8_follow(bench: Bench) -> Ratio:
    """The interval against how old the newest row is, at 2,000 requests a second."""
    interval, oldest = ages(bench.spark, bench.folder / "followed")
    return Ratio("S8", "age of the newest row", "interval", oldest, interval, 1 / 0.8)


def s9_nothing_new(bench: Bench) -> Ratio:
    """The second ingest adds no row and takes two seconds at most."""
    lake = bench.folder / "lake-9"
    ingest(bench.spark, bench.paths, lake, RELEASES[-1])
    before = lake_table(bench.spark, "accesses", lake).count()
    times = [
        took(lambda: ingest(bench.spark, bench.paths, lake, RELEASES[-1])) for _ in range(ROUNDS)
    ]
    assert lake_table(bench.spark, "accesses", lake).count() == before
    return Ratio("S9", "ingest, nothing new", "two seconds", min(times), 2.0, 1)


def s11_cold(bench: Bench) -> Ratio:
    """A command from its start, with the JVM's first compiler only and with both."""
    script = (
        "import sys; from pipeline.session import spark_session;"
        "from pipeline.observed import observed;"
        "spark = spark_session('local[2]', is_short=sys.argv[2] == 'short');"
        "print(observed(spark, [sys.argv[1]]).count())"
    )
    small = bench.folder / "small"
    make_trace(small, 2000)

    def run(kind: str) -> None:
        command = [sys.executable, "-c", script, str(small), kind]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        subprocess.run(command, check=True, capture_output=True, env=environment)

    times = in_turns(functools.partial(run, "short"), functools.partial(run, "long"))
    return Ratio("S11", "cold, first compiler", "cold, both compilers", *times, 1 / 0.8)


BENCHES: dict[str, Callable[[Bench], Ratio]] = {
    "S1": s1_one_process,
    "S2": s2_two_processes,
    "cores": two_cores,
    "S3": s3_arrow_batches,
    "S6": s6_engine,
    "what-breaks": decisions,
    "S7": s7_lake,
    "S8": s8_follow,
    "S9": s9_nothing_new,
    "S11": s11_cold,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=300_000)
    parser.add_argument("--accesses", type=int, default=1_000_000)
    parser.add_argument("--acls", type=int, default=100_000)
    parser.add_argument("--only", help=f"some of {', '.join(BENCHES)}")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit 3 when a goal is missed")
    args = parser.parse_args()
    problem = missing()
    if problem is not None:
        sys.exit(f"benchmarks.spark: {problem}")
    names = args.only.split(",") if args.only else list(BENCHES)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        make_trace(Path(folder, "trace"), args.requests)
        bench = Bench(spark_session("local[2]", is_short=False), Path(folder), args)
        for name in names:
            found.append(BENCHES[name](bench))
            print(f"{name} done", file=sys.stderr, flush=True)
        bench.spark.stop()
    show(found, args)
    sys.exit(3 if args.check and not all(one.is_met for one in found) else 0)


def show(found: list[Ratio], args: argparse.Namespace) -> None:
    if args.json:
        rows = [msgspec.structs.asdict(one) | {"ratio": round(one.value, 3)} for one in found]
        print(json.dumps({"load": os.getloadavg()[0], "ratios": rows}, indent=2))
        return
    print(f"load average {os.getloadavg()[0]:.1f}; {args.requests} requests,")
    print(f"{args.accesses} accesses, {args.acls} ACLs\n")
    print("| | ours | seconds | other | seconds | ratio | goal |\n|---|---|---|---|---|---|---|")
    for one in found:
        goal = (
            "" if one.goal is None else f"{one.goal:.2f}" + ("" if one.is_met else ", **missed**")
        )
        cells = (one.name, one.ours, f"{one.ours_s:.2f}", one.other, f"{one.other_s:.2f}")
        print(f"| {' | '.join(cells)} | x{one.value:.2f} | {goal} |")


if __name__ == "__main__":
    main()
