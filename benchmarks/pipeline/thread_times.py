"""The processor time of a process and its descendants, by what their threads do."""

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from benchmarks.pipeline.ratio import process_tree

_WORK = {
    "Executor task": "tasks",
    "Thread-": "planning",
    "shuffle-exchang": "planning",
    "ResultQueryStag": "planning",
    "broadcast-excha": "broadcasts",
    "GC Thread": "garbage collection",
    "VM Thread": "garbage collection",
    "C1 Compiler": "compilation",
    "C2 Compiler": "compilation",
}
"""The beginnings of names of Spark's and Java's threads, of which Linux keeps 15 characters."""


def seconds_by_work(root: int) -> Counter[str]:
    """Return seconds of processor time by work; threads that have ended are not counted."""
    found: Counter[str] = Counter()
    for process in process_tree(root):
        for path in Path(f"/proc/{process}/task").glob("*/stat"):
            try:
                head, _, rest = path.read_text().rpartition(")")
            except OSError:  # the thread has just ended
                continue
            fields = rest.split()
            work = "Python" if process == root else _work_of_thread(head.partition("(")[2])
            found[work] += int(fields[11]) + int(fields[12])
    ticks = os.sysconf("SC_CLK_TCK")
    return Counter({work: value / ticks for work, value in found.items()})


def _work_of_thread(name: str) -> str:
    return next((work for start, work in _WORK.items() if name.startswith(start)), "other threads")


def table_of_work(seconds: Mapping[str, float]) -> str:
    """Return a table, what takes longest first."""
    rows = sorted(seconds.items(), key=lambda item: -item[1])
    head = "| work | processor time |\n|---|---|"
    return "\n".join([head, *(f"| {work} | {value:.1f} s |" for work, value in rows)])
