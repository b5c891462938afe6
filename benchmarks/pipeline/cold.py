"""A whole command, from start to end."""

import os
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

from benchmarks.pipeline.data import make_trace, random_acls
from benchmarks.pipeline.ratio import ROUNDS, Bench, Ratio, faster, processor_seconds, tell
from kafka_shim.policy.formats import format_acls_losslessly

ROOT = Path(__file__).parents[2]
SCRIPT = """
import functools, sys
from kafka_shim.pipeline import job_runner
from kafka_shim.cli import main
is_short = sys.argv.pop(1) == "short"
job_runner.spark_session = functools.partial(
    job_runner.spark_session, without_optimising_compiler=is_short
)
sys.exit(main(sys.argv[1:]))
"""
REQUESTS = 2000
ACLS = 1000
LOOK_S = 0.1


Run = tuple[float, float]
"""Elapsed seconds, and seconds of processor time."""


def s11_cold(bench: Bench) -> Ratio:
    """Run what-breaks on a small trace: with only the JVM's first compiler, and with both."""
    short, long = (min(processor for _, processor in runs) for runs in _runs(bench.folder))
    return faster("S11", "cold, first compiler", "cold, both compilers", (short, long), 1 / 0.8)


def s11_clock(bench: Bench) -> Ratio:
    """Return the elapsed time of the same runs, in which an idle core
    may hide the second compiler.
    """
    short, long = (min(clock for clock, _ in runs) for runs in _runs(bench.folder))
    return faster("S11 clock", "cold, first compiler", "cold, both", (short, long), None)


@cache
def _runs(folder: Path) -> tuple[list[Run], list[Run]]:
    """Return runs with only the first compiler, and runs with both, in turns."""
    small, candidate = folder / "small", folder / "candidate.csv"
    make_trace(small, REQUESTS)
    candidate.write_text(format_acls_losslessly(random_acls(ACLS), "csv"))
    words = ["pipeline", "what-breaks", str(small), "--acls", str(candidate), "--json"]
    found: tuple[list[Run], list[Run]] = ([], [])
    for number in range(ROUNDS):
        for runs, kind in zip(found, ("short", "long"), strict=True):
            runs.append(_run([sys.executable, "-c", SCRIPT, kind, *words, "--master", "local[2]"]))
        tell(f"  round {number + 1} of {ROUNDS}: {found[0][-1]}, {found[1][-1]}")
    return found


def _run(command: list[str]) -> Run:
    """Return a command's times, read while it runs, since it exits before its JVM."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    begin, used = time.perf_counter(), 0.0
    silent = subprocess.DEVNULL
    with subprocess.Popen(command, env=environment, stdout=silent, stderr=silent) as running:
        while running.poll() is None:
            used = max(used, processor_seconds(running.pid))
            time.sleep(LOOK_S)
    if running.returncode:
        raise subprocess.CalledProcessError(running.returncode, command)
    return time.perf_counter() - begin, used
