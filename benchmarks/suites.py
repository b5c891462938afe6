"""The duration of other projects' tests on the shim, on kfake and on a real Kafka.

    python -m benchmarks.suites [--only kgo,sarama] [--on shim,real] [--json] [--check]

The suites are those of `python -m tests.suites`. Each suite is compiled by a run without tests and
then runs once. The processor time is that of the broker only, from its start to the end of the last
test.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks.against import brokers
from benchmarks.command import finish, parse_arguments
from tests.suites import kafka_python, kgo, sarama
from tests.suites.broker import PLAINTEXT, SASL_PLAINTEXT, Broker, Needs, running
from tests.suites.outcome import FAILED, PASSED, Result, counts

SUITES: dict[str, tuple[Needs, Callable[[Broker, str], list[Result]]]] = {
    "kgo": (kgo.NEEDS, kgo.run),
    "sarama": (sarama.NEEDS, sarama.run),
    "kafka-python": (kafka_python.NEEDS, kafka_python.run),
}
BROKERS = ("shim", "kfake", "real")
NO_TEST = "NoTestHasThisName"
UNABLE = {
    ("kafka-python", "kfake"): "kafka-python 3.0 cannot connect to kfake",
}
"""Suites that cannot run on a broker, with the reason."""


class Opened(NamedTuple):
    """A broker, its processes, and the seconds that it took to start."""

    broker: Broker
    pids: list[int]
    start_s: float


def measure(suite: str, on: str, tests: str = "") -> dict[str, object]:
    """Run a suite on a broker; return its times, and how many tests passed and failed."""
    if (suite, on) in UNABLE:
        return {"suite": suite, "broker": on, "unable": UNABLE[suite, on]}
    needs, run = SUITES[suite]
    with OPENED[on](needs) as (broker, pids, start_s):
        run(broker, NO_TEST)  # compiles the suite
        began = time.perf_counter()
        results = run(broker, tests)
        took_s = time.perf_counter() - began
        processor_s = brokers.processor_s(pids)
    found = counts(results)
    return {
        "suite": suite,
        "broker": on,
        "start_s": round(start_s, 1),
        "suite_s": round(took_s, 1),
        "broker_processor_s": round(processor_s, 1),
        "passed": found[PASSED],
        "failed": found[FAILED],
    }


@contextmanager
def of_suites(against: str, needs: Needs) -> Iterator[Opened]:
    """Start the broker of `python -m tests.suites`; yield it with its processes."""
    before, began = children(), time.perf_counter()
    with running(against, brokers.RELEASE, needs) as broker:
        yield Opened(broker, sorted(children() - before), time.perf_counter() - began)


def children() -> set[int]:
    """Return the ids of the processes that this one has started."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # the process has just ended
            continue
        if int(fields[1]) == os.getpid():
            found.add(int(path.parent.name))
    return found


@contextmanager
def kfake(_needs: Needs) -> Iterator[Opened]:
    with brokers.kfake_process("suites") as found:
        listeners = dict(zip((PLAINTEXT, SASL_PLAINTEXT), found.addresses, strict=True))
        yield Opened(Broker(brokers.RELEASE, listeners, None), [found.pid], found.start_s)


OPENED: dict[str, Callable[[Needs], AbstractContextManager[Opened]]] = {
    "shim": lambda needs: of_suites("shim", needs),
    "kfake": kfake,
    "real": lambda needs: of_suites("real", needs),
}


def table(rows: list[dict[str, object]]) -> str:
    lines = [
        "| suite | broker | passed, failed | start s | suite s | processor s of the broker |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        if "unable" in row:
            lines.append(f"| {row['suite']} | {row['broker']} | {row['unable']} | | | |")
            continue
        names = ("start_s", "suite_s", "broker_processor_s")
        figures = " | ".join(str(row[name]) for name in names)
        tests = f"{row['passed']}, {row['failed']}"
        lines.append(f"| {row['suite']} | {row['broker']} | {tests} | {figures} |")
    return "\n".join(lines)


def missed(rows: list[dict[str, object]]) -> list[str]:
    """Return the suites in which the shim takes more processor time than a real broker."""
    used = {(row["suite"], row["broker"]): row.get("broker_processor_s") for row in rows}
    found = []
    for (suite, on), value in used.items():
        real = used.get((suite, "real"))
        if on == "shim" and isinstance(value, float) and isinstance(real, float) and value >= real:
            found.append(f"{suite}: {value} s of processor time, a real broker {real} s")
    return found


def main() -> int:
    options = parse_arguments(
        __doc__,
        only=(",".join(SUITES), "which suites"),
        on=(",".join(BROKERS), "which brokers"),
        tests=("", "pattern of the tests (default: all)"),
    )
    # a tenth of what kgo's tests write by default
    os.environ.setdefault("KGO_TEST_RECORDS", "50000")
    rows = [
        measure(suite, on, options.tests)
        for suite in options.only.split(",")
        for on in options.on.split(",")
    ]
    return finish(options, {"rows": rows}, table(rows), missed(rows))


if __name__ == "__main__":
    sys.exit(main())
