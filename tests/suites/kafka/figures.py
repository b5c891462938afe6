"""Figures of Kafka's own tests on a real broker and on the shim, stored in figures.json.

`python -m tests.suites kafka --against both --record` stores the figures of the classes that ran
and writes tests/suites/kafka/RESULTS.md.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.suites.kafka.catalogue import CLASSES
from tests.suites.kafka.known import reason
from tests.suites.kafka.running import Outcome, run
from tests.suites.outcome import PASSED, Result

KEPT = Path(__file__).parent / "figures.json"
PAGE = Path(__file__).parent / "RESULTS.md"
INTRODUCTION = """\
# Kafka's own integration tests

`python -m tests.suites kafka --against both --record` runs the tests of Kafka 4.3.1 on a real
broker and on the shim, and writes this file.

*use internals*: tests that read logs, metrics or files inside of the broker, and so fail on a real
broker in another process, too. *s*: elapsed seconds. *CPU s*: processor time of the brokers. All
real brokers share one Java process; the shim starts a process for each test.

"""
HEAD = (
    "| class | tests | use internals | real passed | shim passed | real s | shim s"
    " | real CPU s | shim CPU s |\n|---|---|---|---|---|---|---|---|---|\n"
)
INSIDE = "inside of the broker"
OPEN = "shows what the shim does otherwise and is still to be mended"

Row = dict[str, Any]


def measure(release: str, only: str) -> Iterator[Row]:
    """Run each class on both sides; yield its figures."""
    for real, shim in run(("real", "shim"), release, only):
        yield row(real, shim)


def row(real: Outcome, shim: Outcome) -> Row:
    """Return the figures of a class; only tests that pass on the real broker count."""
    passed = {test.name for test in real.tests if test.state == PASSED}
    on_shim = {test.name for test in shim.tests if test.state == PASSED}
    return {
        "class": label(real.name),
        "tests": len(real.tests),
        "inside": sum(_is_inside(test) for test in real.tests),
        "real": len(passed),
        "shim": len(passed & on_shim),
        "failed": sorted(passed - on_shim),
        "seconds": [round(real.seconds), round(shim.seconds)],
        "processor_seconds": [round(real.processor_seconds), round(shim.processor_seconds)],
    }


def label(name: str) -> str:
    """Return the simple name of a class; its full name if an earlier class has the same one."""
    own = name.rpartition(".")[2]
    first = next((each for each in CLASSES if each.endswith(f".{own}")), name)
    return own if first == name else name


def keep(rows: Iterable[Row]) -> None:
    """Store rows in the file, and write all stored rows to RESULTS.md."""
    kept = {kept["class"]: kept for kept in load()} | {new["class"]: new for new in rows}
    KEPT.write_text(json.dumps(list(kept.values()), indent=1) + "\n")
    PAGE.write_text(INTRODUCTION + shown(load()))


def load() -> list[Row]:
    found: list[Row] = json.loads(KEPT.read_text()) if KEPT.exists() else []
    return found


def shown(rows: Iterable[Row]) -> str:
    """Return the figures as Markdown."""
    rows = list(rows)
    catalogue = "[catalogue.py](catalogue.py)"
    return (
        f"{len(rows)} of the {len(CLASSES)} classes of {catalogue} are measured.\n\n{table(rows)}"
    )


def table(rows: Iterable[Row]) -> str:
    """Return the rows as a Markdown table with sums."""
    rows = list(rows)
    lines = [_line(f"`{each['class']}`", each) for each in rows]
    sums: Row = {
        key: sum(each[key] for each in rows) for key in ("tests", "inside", "real", "shim")
    }
    for key in ("seconds", "processor_seconds"):
        sums[key] = [sum(each[key][side] for each in rows) for side in (0, 1)]
    return HEAD + "".join([*lines, _line("all", sums)]) + _reasons(rows)


def failed(rows: Iterable[Row]) -> list[str]:
    """Return the tests that pass on a real broker and fail on the shim, as `Class.test`."""
    return [f"{each['class']}.{name}" for each in rows for name in each["failed"]]


def _reasons(rows: Iterable[Row]) -> str:
    """Return a table of the reasons for failures, with numbers of tests."""
    counts = Counter(reason(name) or OPEN for name in failed(rows))
    if not counts:
        return ""
    lines = [f"| {number} | {why} |\n" for why, number in counts.most_common()]
    return "\n| pass on a real broker only | why: the test |\n|---|---|\n" + "".join(lines)


def _line(name: str, each: Row) -> str:
    cells = [name, *(each[key] for key in ("tests", "inside", "real", "shim"))]
    cells += [*each["seconds"], *each["processor_seconds"]]
    return "| " + " | ".join(map(str, cells)) + " |\n"


def _is_inside(test: Result) -> bool:
    return test.state != PASSED and INSIDE in test.reason
