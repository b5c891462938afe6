"""The pipeline on Spark: ratios of two implementations, and the memory for large traces.

    python -m benchmarks.pipeline [--requests N] [--accesses N] [--acls N] [--files N]
                              [--trace-accesses N] [--only NAME,...] [--json] [--check]

The results of two implementations are compared first; then they take turns, and the best time of
each counts. Spark has two cores and one GiB. Each row is printed as soon as it is known (with
`--json`, one object per line); progress goes to standard error. The exit code is 1 if a ratio could
not be measured. `benchmarks/codec.py` compares skimming with decoding (S10).

Large traces are read by `kafka-shim pipeline` in its own process, with two cores; the memory is the
sum over all its processes, measured four times per second.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from benchmarks.pipeline.cold import s11_clock, s11_cold
from benchmarks.pipeline.data import make_trace
from benchmarks.pipeline.decisions import s6_engine
from benchmarks.pipeline.following import s8_follow
from benchmarks.pipeline.lakes import s7_lake, s9_nothing_new
from benchmarks.pipeline.ratio import Bench, Ratio, tell
from benchmarks.pipeline.reading import (
    s1_one_process,
    s2_two_processes,
    s3_arrow_batches,
    two_cores,
)
from benchmarks.pipeline.sizes import HEAD as SIZES_HEAD, SIZES, Size
from benchmarks.pipeline.wireshark import s4_csv, s4_rows, s5_names
from kafka_shim.pipeline.spark.session import spark_session
from kafka_shim.pipeline.spark_requirements import missing_requirement

BENCHES: dict[str, Callable[[Bench], Ratio]] = {
    "S1": s1_one_process,
    "S2": s2_two_processes,
    "cores": two_cores,
    "S3": s3_arrow_batches,
    "S4": s4_rows,
    "S4 CSV": s4_csv,
    "S5": s5_names,
    "S6": s6_engine,
    "S7": s7_lake,
    "S8": s8_follow,
    "S9": s9_nothing_new,
    "S11": s11_cold,
    "S11 clock": s11_clock,
}
F = TypeVar("F", Ratio, Size)
HEAD = "| | ours | | other | | ratio | goal |\n|---|---|---|---|---|---|---|"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=600_000)
    parser.add_argument("--accesses", type=int, default=1_000_000)
    parser.add_argument("--acls", type=int, default=100_000)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--trace-accesses", type=int, default=10_000_000)
    parser.add_argument("--only", help=f"some of {', '.join((*BENCHES, *SIZES))}")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit 3 when a goal is missed")
    args = parser.parse_args()
    problem = missing_requirement()
    if problem is not None:
        sys.exit(f"benchmarks.pipeline: {problem}")
    names = args.only.split(",") if args.only else [*BENCHES, *SIZES]
    for name in names:
        if name not in BENCHES and name not in SIZES:
            parser.error(f"there is no `{name}`; there are {', '.join((*BENCHES, *SIZES))}")
    if not args.json:
        print(f"load average {os.getloadavg()[0]:.1f}; {args.requests} requests,")
        print(f"{args.accesses} accesses, {args.acls} ACLs", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        found = [*ratios(names, Path(folder), args), *sizes(names, Path(folder), args)]
    if None in found:
        return 1
    return 3 if args.check and not all(figure.is_met for figure in found if figure) else 0


def ratios(names: list[str], folder: Path, args: argparse.Namespace) -> list[Ratio | None]:
    wanted = [name for name in names if name in BENCHES]
    if not wanted:
        return []
    head(HEAD, args)
    tell("the trace is made")
    make_trace(folder / "trace", args.requests)
    bench = Bench(spark_session("local[2]", without_optimising_compiler=False), folder, args)
    try:
        return [measured(name, partial(BENCHES[name], bench), args) for name in wanted]
    finally:
        bench.spark.stop()


def sizes(names: list[str], folder: Path, args: argparse.Namespace) -> list[Size | None]:
    wanted = [name for name in names if name in SIZES]
    if wanted:
        head(SIZES_HEAD, args)
    return [measured(name, partial(SIZES[name], folder, args), args) for name in wanted]


def head(text: str, args: argparse.Namespace) -> None:
    if not args.json:
        print(f"\n{text}", flush=True)


def measured(name: str, measure: Callable[[], F], args: argparse.Namespace) -> F | None:
    """Measure and print a row; return None if it fails, and continue with the others."""
    tell(f"{name} ...")
    try:
        found = measure()
    except Exception as error:  # noqa: BLE001 - the other figures are still measured
        tell(f"{name} could not be measured: {type(error).__name__}: {error}")
        return None
    load = round(os.getloadavg()[0], 1)
    row = msgspec.structs.asdict(found) | {"is_met": found.is_met, "load": load}
    print(msgspec.json.encode(row).decode() if args.json else found.line(), flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
