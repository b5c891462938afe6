"""A figure of the benchmarks: two implementations, measured in turns."""

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from kafka_shim.pipeline.trace_input import spark_trace_input

ROUNDS = 3


class Ratio(msgspec.Struct):
    """How many times better the project's implementation is; `goal` is the minimum, if there is
    one.
    """

    name: str
    ours: str
    ours_value: float
    other: str
    other_value: float
    ratio: float
    goal: float | None
    unit: str = "s"

    @property
    def is_met(self) -> bool:
        return self.goal is None or self.ratio >= self.goal

    def line(self) -> str:
        """Return a row of the table."""
        values = [f"{value:.2f} {self.unit}" for value in (self.ours_value, self.other_value)]
        cells = [self.name, self.ours, values[0], self.other, values[1], f"x{self.ratio:.2f}"]
        goal = "" if self.goal is None else f"{self.goal:.2f}"
        return f"| {' | '.join(cells)} | {goal}{'' if self.is_met else ', **missed**'} |"


class Bench(msgspec.Struct):
    """The Spark session and the trace of all benchmarks."""

    spark: Any
    folder: Path
    args: argparse.Namespace

    @property
    def paths(self) -> list[str]:
        return [str(self.folder / "trace")]

    def count(self) -> int:
        return int(spark_trace_input(self.spark, self.paths, {}).distinct_accesses().count())


def took(what: Callable[[], Any]) -> float:
    """Return the elapsed seconds of a call."""
    begin = time.perf_counter()
    what()
    return time.perf_counter() - begin


def processor_seconds(root: int) -> float:
    """Return the processor time of a process and all its descendants, including ended ones."""
    return sum(process_tree(root).values()) / os.sysconf("SC_CLK_TCK")


def process_tree(root: int) -> dict[int, int]:
    """Return the clock ticks of a process and its descendants, by process id."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text()
        except OSError:  # the process has just ended
            continue
        fields = text.rpartition(")")[2].split()  # the name before it may contain spaces
        pid = int(path.parent.name)
        parents[pid] = int(fields[1])
        ticks[pid] = sum(map(int, fields[11:15]))
    wanted = {root}
    while more := {pid for pid, parent in parents.items() if parent in wanted} - wanted:
        wanted |= more
    return {pid: ticks.get(pid, 0) for pid in wanted}


def tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def time_sliced(
    ours: Callable[[], Any], other: Callable[[], Any], rounds: int = ROUNDS
) -> tuple[float, float]:
    """Return the best seconds of each, after one round that is not counted."""
    found: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds + 1):
        for times, what in zip(found, (ours, other), strict=True):
            times.append(took(what))
        tell(f"  round {number} of {rounds}: {found[0][-1]:.2f} s, {found[1][-1]:.2f} s")
    return min(found[0][1:]), min(found[1][1:])


def faster(
    name: str, ours: str, other: str, times: tuple[float, float], goal: float | None
) -> Ratio:
    """Return the ratio of two times."""
    return Ratio(name, ours, times[0], other, times[1], times[1] / times[0], goal)
