"""The goals of the jobs about ACLs, side by side in one run, and the page with the figures.

    python -m benchmarks.pipeline.goals [--acls N] [--trace-accesses N] [--only NAME,...]
                                    [--rounds N] [--check] [--publish]

The same Parquet files of distinct accesses and the same file of ACLs are judged by a job on DuckDB,
by SQL written by hand (`hand_sql`), and by a job that Spark reads for. They take turns, each in its
own process, and the best time of each counts; their results must be equal. A trace of 10,000,000
accesses, of which half are one principal's, is read by each job in its own process, with the heap
that a machine of 4 GiB has. A trace of 100 kB is read by a command without a JVM. All have two
cores.
"""

import argparse
import datetime as dt
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.pipeline.data import access_rows, make_trace
from benchmarks.pipeline.engine_job import TimedResult
from benchmarks.pipeline.ratio import tell
from benchmarks.pipeline.sizes import LIMIT_MIB, SIZES, Size, acl_file
from kafka_shim.pipeline.tables import OBSERVED

PAGE = Path(__file__).parents[1] / "results" / "pipeline.md"
_HEAD = """\
# The jobs about ACLs

`python -m benchmarks.pipeline.goals --publish` writes this file.

The [jobs](../../docs/guides/pipeline.md) analyse traces with DuckDB or Spark. A job meets its goal
if *figure* is not above *goal*.
"""
FILES = 8
SMALL_TRACE_BYTES = 100_000
SMALL_TRACE_REQUESTS = 460
SMALL_ROUNDS = 6


class Figure(msgspec.Struct):
    """A measured job with its goal: seconds, MiB, or how many times as long as another way."""

    job: str
    data: str
    seconds: float
    processor_seconds: float
    figure: float
    goal: float
    unit: str

    @property
    def is_met(self) -> bool:
        return self.figure <= self.goal

    def line(self) -> str:
        """Return a row of the table."""
        times = [f"{value:.2f} s" for value in (self.seconds, self.processor_seconds)]
        figures = [f"{value:.4g} {self.unit}" for value in (self.figure, self.goal)]
        met = "met" if self.is_met else "missed"
        return f"| {' | '.join([self.job, self.data, *times, *figures, met])} |"


HEAD = "| job | data | elapsed | processor time | figure | goal | |\n|---|---|---|---|---|---|---|"


class Inputs:
    """The data of all figures, each made once."""

    def __init__(self, folder: Path, args: argparse.Namespace) -> None:
        self.folder = folder
        self.args = args

    def accesses(self, count: int) -> Path:
        """Return a folder of Parquet files with distinct accesses."""
        folder = self.folder / f"accesses-{count}"
        if not folder.exists():
            tell(f"  {count} accesses are made")
            folder.mkdir()
            for start in range(0, count, count // FILES):
                numbers = [*range(start, min(start + count // FILES, count))]
                rows = pa.Table.from_batches([access_rows(numbers, self.args.acls)], OBSERVED)
                pq.write_table(rows, folder / f"{start}.parquet")
        return folder

    def compare(self, job: str, way: str, other: str, count: int, goal: float) -> Figure:
        """Measure two ways in turns, which must have equal results."""
        paths = [str(self.accesses(count)), str(acl_file(self.folder, self.args.acls))]
        best: dict[str, TimedResult] = {}
        for _ in range(self.args.rounds):
            for each in (way, other):
                result = _run(each, job, *paths)
                tell(f"  {job}, {each}: {result.seconds:.2f} s")
                fastest = min(best.get(each, result), result, key=lambda of: of.seconds)
                best[each] = fastest
        (mine, theirs), data = (best[way], best[other]), f"{count} distinct, {self.args.acls} ACLs"
        assert (mine.findings, mine.requests) == (theirs.findings, theirs.requests), best
        assert mine.findings, f"{job} has nothing to find"
        ratio = mine.seconds / theirs.seconds
        name = {"sql": "SQL by hand", "duckdb": "DuckDB"}[other]
        times = mine.seconds, mine.processor_seconds
        return Figure(f"{job}, {way}", data, *times, ratio, goal, f"times {name}")

    def large(self, name: str) -> Figure:
        size: Size = SIZES[f"large {name}"](self.folder, self.args)
        times = size.seconds, size.processor_seconds
        return Figure(f"{name}, spark", size.trace, *times, size.mib, LIMIT_MIB, "MiB")

    def small(self) -> Figure:
        """Measure the first answer about a small trace, with the start of Python."""
        trace = self.folder / "small"
        make_trace(trace, SMALL_TRACE_REQUESTS)
        size = sum(path.stat().st_size for path in trace.iterdir())
        assert SMALL_TRACE_BYTES <= size < 2 * SMALL_TRACE_BYTES, size
        words = [sys.executable, "-P", "-m", "kafka_shim", "pipeline", "denials", str(trace)]
        times = min(_child_times(words) for _ in range(SMALL_ROUNDS))
        data = f"a trace of {size // 1000} kB"
        return Figure("denials, duckdb", data, *times, times[0], 0.6, "s")


def _run(*words: str) -> TimedResult:
    command = [sys.executable, "-m", "benchmarks.pipeline.engine_job", *words]
    return msgspec.json.decode(subprocess.check_output(command), type=TimedResult)


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


MILLION = 1_000_000
GOALS: dict[str, Callable[[Inputs], Figure]] = {
    "first answer": Inputs.small,
    "what-breaks by hand": lambda data: data.compare("what-breaks", "duckdb", "sql", MILLION, 1.5),
    "unused-acls by hand": lambda data: data.compare("unused-acls", "duckdb", "sql", MILLION, 1.5),
    "Spark": lambda data: data.compare("what-breaks", "spark", "duckdb", MILLION, 6),
    "Spark of 4 million": lambda data: data.compare(
        "what-breaks", "spark", "duckdb", 4 * MILLION, 6
    ),
    "memory of what-breaks": lambda data: data.large("what-breaks"),
    "memory of unused-acls": lambda data: data.large("unused-acls"),
    "memory of least-acls": lambda data: data.large("least-acls"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--acls", type=int, default=10_000)
    parser.add_argument("--trace-accesses", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
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
                PAGE.write_text(page(figures))
    return 3 if args.check and not all(figure.is_met for figure in figures) else 0


def page(figures: list[Figure]) -> str:
    """Return the page with these figures."""
    today = dt.datetime.now(dt.UTC).date()
    load = " ".join(f"{load:.1f}" for load in os.getloadavg())
    state = (
        f"Measured on {today} on {os.cpu_count()} cores, CPython {platform.python_version()},"
        f" load {load} (1, 5 and 15 minutes)."
    )
    return "\n".join([_HEAD, state, "", HEAD, *(figure.line() for figure in figures), ""])


if __name__ == "__main__":
    sys.exit(main())
