"""The inspector under load: `python -m benchmarks.inspector --check`.

A client sends 10,000 different requests per minute, first without the page and then while the page
shows them. The response times are measured, and how long the page is blocked.
"""

import argparse
import json
import socket
import statistics
import sys
import time
from typing import Any, Final

import msgspec

from benchmarks.broker import framed
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.testing import KafkaBroker, start
from tests.support.browser import chromium

PER_MINUTE: Final = 10_000
SECONDS: Final = 60
WARMUP: Final = 10_000
LONGEST_TASK_MS: Final = 300
"""Goal for the longest task: readers do not notice such a pause."""
_WATCH: Final = """
window.longTasks = [];
new PerformanceObserver(list => longTasks.push(...list.getEntries().map(task => task.duration)))
  .observe({entryTypes: ["longtask"]});
"""


class Figures(msgspec.Struct):
    """Response times in ms; the page's time in tasks of more than 50 ms, and its longest task."""

    page: str
    requests: int
    median_ms: float
    p99_ms: float
    longest_task_ms: float | None = None
    busy_percent: float | None = None


def fill_history(broker: KafkaBroker, requests: int) -> None:
    """Send as many requests, a hundred at a time."""
    host, _, port = broker.bootstrap_servers.rpartition(":")
    frames = [_frame(number) for number in range(100)]
    with socket.create_connection((host, int(port))) as peer, peer.makefile("rb") as stream:
        for _ in range(0, requests, len(frames)):
            peer.sendall(b"".join(frames))
            for _ in frames:
                stream.read(int.from_bytes(stream.read(4), "big"))


def _frame(number: int) -> bytes:
    topic = MetadataRequestTopic(name=f"t{number % 1000}")
    return framed(ApiKey.METADATA, 9, MetadataRequest([topic], False))


def load(broker: KafkaBroker, requests: int, seconds: float) -> list[float]:
    """Send requests at an even pace; return the seconds until each response."""
    host, _, port = broker.bootstrap_servers.rpartition(":")
    took = []
    with socket.create_connection((host, int(port))) as peer, peer.makefile("rb") as stream:
        began = time.perf_counter()
        for number in range(requests):
            wait = began + number * seconds / requests - time.perf_counter()
            if wait > 0:
                time.sleep(wait)
            frame = _frame(number)
            sent = time.perf_counter()
            peer.sendall(frame)
            stream.read(int.from_bytes(stream.read(4), "big"))
            took.append(time.perf_counter() - sent)
    return took


def figures(page: str, took: list[float]) -> Figures:
    ms = [seconds * 1000 for seconds in took]
    median, p99 = statistics.median(ms), statistics.quantiles(ms, n=100)[98]
    return Figures(page, len(ms), round(median, 2), round(p99, 2))


def watched(broker: KafkaBroker, driver: Any, seconds: float) -> Figures:
    driver.get(f"{broker.control_url}/inspector#requests")
    time.sleep(3)  # until the page has read the history
    driver.execute_script(_WATCH)
    found = figures("open", load(broker, int(PER_MINUTE * seconds / 60), seconds))
    tasks = driver.execute_script("return longTasks")
    found.longest_task_ms = round(max(tasks, default=0))
    found.busy_percent = round(sum(tasks) / seconds / 10, 1)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit 3 if the goal is missed")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    args = parser.parse_args()
    with start() as broker, chromium() as driver:
        fill_history(broker, WARMUP)
        alone = figures("closed", load(broker, int(PER_MINUTE * args.seconds / 60), args.seconds))
        rows = [alone, watched(broker, driver, args.seconds)]
    if args.json:
        print(json.dumps(msgspec.to_builtins(rows), indent=2))
    else:
        names = [field.name for field in msgspec.structs.fields(Figures)]
        print(f"| {' | '.join(names)} |\n|{'---|' * len(names)}")
        for row in rows:
            print(f"| {' | '.join(map(str, msgspec.structs.astuple(row)))} |")
    longest = rows[1].longest_task_ms or 0
    return 3 if args.check and longest > LONGEST_TASK_MS else 0


if __name__ == "__main__":
    sys.exit(main())
