"""The goals of the jobs about ACLs, side by side in one run, and the page with the figures.

    python -m benchmarks.pipeline.goals [--accesses N] [--acls N] [--trace-accesses N]
                                    [--only NAME,...] [--check] [--publish]

A million distinct accesses, of which one in 50 is denied, are judged with 100,000 ACLs by both
engines; their results must be equal. A trace of 10,000,000 accesses, of which half are one
principal's, is read by each job in its own process. A trace of 100 kB is read by a command without
a JVM. All have two cores. On a busy machine only the processor time is comparable: with two cores
that no one else uses, the elapsed time is at least half of it.
"""

import argparse
import datetime as dt
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.pipeline.data import access_rows, make_trace
from benchmarks.pipeline.engine_job import TimedResult
from benchmarks.pipeline.ratio import tell
from benchmarks.pipeline.sizes import LIMIT_MIB, SIZES, Size, acl_file
from benchmarks.pipeline.thread_times import table_of_work
from kafka_shim.pipeline.tables import OBSERVED

PAGE = Path(__file__).parents[1] / "results" / "pipeline.md"
_HEAD = """\
# The jobs about ACLs

`python -m benchmarks.pipeline.goals --publish` writes this file.
"""
_WORK = """\
Where the processor time of Spark's what-breaks with 100,000 ACLs goes. Planning is analysis,
optimization and code generation; threads that have ended are missing.\
"""
_TRIED = """\
What was tried:

| attempt | effect |
|---|---|
| the ACLs are read while Spark reads the accesses; the kinds of accesses are found while \
the first join is planned | 12.7 to 12.9 s elapsed instead of 13.8 to 15.0 s |
| this process compares the hashes of the changes' keys, up to 8 million, to find out whether some \
are equal, instead of a grouping by Spark; what is kept has only the columns that are needed | \
11.2 to 11.7 s elapsed instead of 12.2 to 12.3 s; with all columns, 11.7 to 12.2 s |
| Java's heap begins with a 16th of the memory, not a 64th | 0.8 s of collections instead of 1.4 s |
| an archive of Spark's classes (`-XX:ArchiveClassesAtExit`, 186 MB) | planning 2.5 s instead of \
2.7 s |
| relations are kept in files without compression (`spark.rdd.compress`) | tasks 14.0 s instead of \
12.6 s |
| Snappy instead of LZ4 for these files | tasks 13.4 s instead of 12.7 s |
| no evaluation of small tables while planning (`ConvertToLocalRelation`) | none |
| plans without constraint propagation, partition pruning at run time and Bloom filters | none |
| larger buffers and blocks of shuffled rows; plans told in short (`spark.sql.ui.explainMode`) | \
none |
| Python's threads take turns after 0.5 ms, not 5 ms | none |
| huge pages (`-XX:+UseTransparentHugePages`) | none |
| the optimising compiler, the serial collector, Kryo with references, 4 or 8 partitions | none |\
"""
FILES = 8
SMALL_TRACE_BYTES = 100_000
SMALL_TRACE_REQUESTS = 460
ROUNDS = 3
LARGE_S = 300


class Figure(msgspec.Struct):
    """A measured job with its goal; the memory is limited for large traces only."""

    job: str
    data: str
    seconds: float
    processor_seconds: float
    goal_s: float
    mib: float | None = None

    @property
    def is_met(self) -> bool:
        return self.seconds <= self.goal_s and (self.mib is None or self.mib <= LIMIT_MIB)

    def line(self) -> str:
        """Return a row of the table."""
        memory = "" if self.mib is None else f"{self.mib:.0f} of {LIMIT_MIB} MiB"
        times = [f"{value:.2f} s" for value in (self.seconds, self.processor_seconds)]
        met = "met" if self.is_met else "missed"
        return f"| {' | '.join([self.job, self.data, *times, f'{self.goal_s:g} s', memory, met])} |"


HEAD = "| job | data | elapsed | processor time | goal | memory | |\n|---|---|---|---|---|---|---|"


class Inputs:
    """The data of all figures, each made once."""

    def __init__(self, folder: Path, args: argparse.Namespace) -> None:
        self.folder = folder
        self.args = args
        self._results: dict[str, TimedResult] = {}
        self.spark_work: dict[str, float] = {}

    def accesses(self) -> Path:
        """Return a folder of Parquet files with the distinct accesses."""
        folder, count = self.folder / "accesses", self.args.accesses
        if not folder.exists():
            tell(f"  {count} accesses are made")
            folder.mkdir()
            for start in range(0, count, count // FILES):
                numbers = [*range(start, min(start + count // FILES, count))]
                rows = pa.Table.from_batches([access_rows(numbers, self.args.acls)], OBSERVED)
                pq.write_table(rows, folder / f"{start}.parquet")
        return folder

    def run(self, engine: str, job: str) -> TimedResult:
        """Run a job in its own process; results of the other engine must be equal."""
        words = [engine, job, str(self.accesses()), str(acl_file(self.folder, self.args.acls))]
        module = "benchmarks.pipeline.engine_job"
        printed = subprocess.check_output([sys.executable, "-m", module, *words])
        result = msgspec.json.decode(printed, type=TimedResult)
        earlier = self._results.setdefault(job, result)
        assert (result.findings, result.requests) == (earlier.findings, earlier.requests)
        assert result.findings, f"{job} has nothing to find"
        return result

    def of_engine(self, engine: str, job: str, goal_s: float) -> Figure:
        data = f"{self.args.accesses} distinct accesses, {self.args.acls} ACLs"
        results = [self.run(engine, job) for _ in range(ROUNDS if engine == "local" else 1)]
        best = min(results, key=lambda result: result.seconds)
        if engine == "spark":
            self.spark_work = best.seconds_by_work
        return Figure(f"{job}, {engine}", data, best.seconds, best.processor_seconds, goal_s)

    def large(self, name: str) -> Figure:
        size: Size = SIZES[f"large {name}"](self.folder, self.args)
        times = size.seconds, size.processor_seconds
        return Figure(f"{name}, spark", size.trace, *times, LARGE_S, size.mib)

    def small(self) -> Figure:
        """Measure the first answer about a small trace, with the start of Python."""
        trace = self.folder / "small"
        if not trace.exists():
            make_trace(trace, SMALL_TRACE_REQUESTS)
        size = sum(path.stat().st_size for path in trace.iterdir())
        assert SMALL_TRACE_BYTES <= size < 2 * SMALL_TRACE_BYTES, size
        words = [sys.executable, "-P", "-m", "kafka_shim", "pipeline", "denials", str(trace)]
        times = [_child_times(words) for _ in range(2 * ROUNDS)]
        return Figure("denials, local", f"a trace of {size // 1000} kB", *min(times), 0.6)


def _child_times(words: list[str]) -> tuple[float, float]:
    """Return the elapsed seconds and the processor seconds of a command.

    An installed package has bytecode, so the first run may write it.
    """
    environment = {**os.environ}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before, begin = os.times(), time.perf_counter()
    subprocess.run(
        words,
        check=True,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    seconds, after = time.perf_counter() - begin, os.times()
    used = after.children_user - before.children_user
    return seconds, used + after.children_system - before.children_system


GOALS: dict[str, Callable[[Inputs], Figure]] = {
    "first answer": Inputs.small,
    "embedded denials": lambda inputs: inputs.of_engine("local", "denials", 1),
    "embedded what-breaks": lambda inputs: inputs.of_engine("local", "what-breaks", 5),
    "Spark what-breaks": lambda inputs: inputs.of_engine("spark", "what-breaks", 12),
    "large what-breaks": lambda inputs: inputs.large("what-breaks"),
    "large unused-acls": lambda inputs: inputs.large("unused-acls"),
    "large least-acls": lambda inputs: inputs.large("least-acls"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accesses", type=int, default=1_000_000)
    parser.add_argument("--acls", type=int, default=100_000)
    parser.add_argument("--trace-accesses", type=int, default=10_000_000)
    parser.add_argument("--only", help=f"some of {', '.join(GOALS)}")
    parser.add_argument("--check", action="store_true", help="exit 3 when a goal is missed")
    parser.add_argument("--publish", action="store_true", help=f"write {PAGE.name}")
    args = parser.parse_args()
    names = args.only.split(",") if args.only else [*GOALS]
    if unknown := [name for name in names if name not in GOALS]:
        parser.error(f"there is no `{unknown[0]}`; there are {', '.join(GOALS)}")
    print(HEAD, flush=True)
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        inputs = Inputs(Path(folder), args)
        for name in names:
            figures.append(GOALS[name](inputs))
            print(figures[-1].line(), flush=True)
            if args.publish:
                PAGE.write_text(page(figures, inputs.spark_work))
    return 3 if args.check and not all(figure.is_met for figure in figures) else 0


def page(figures: list[Figure], spark_work: Mapping[str, float]) -> str:
    """Return the page with these figures, and the processor time of Spark's by work."""
    today = dt.datetime.now(dt.UTC).date()
    load = " ".join(f"{load:.1f}" for load in os.getloadavg())
    state = (
        f"Measured on {today} on {os.cpu_count()} cores, CPython {platform.python_version()},"
        f" load {load} (1, 5 and 15 minutes)."
    )
    lines = [_HEAD, state, "", HEAD, *(figure.line() for figure in figures), ""]
    if spark_work:
        lines += [_WORK, "", table_of_work(spark_work), "", _TRIED, ""]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
