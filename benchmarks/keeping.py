"""The cost of `--data-dir`: requests over a socket, with and without it.

    python -m benchmarks.keeping [--check] [--json]

Two brokers run in their own processes, one of them with `--data-dir`. A client sends the same
requests to both in turn, so that other load of the machine affects both. `in flight` is the number
of requests in flight: one is the worst case, since each result is written alone; five are typical
of a Java producer; with fifty, the results of several requests are written together.
"""

import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.broker import Broker, requests
from benchmarks.command import finish, parse_arguments

ROUNDS = 15
REQUESTS = 2_000
WINDOWS = (1, 5, 50)
KINDS = ("Metadata", "Produce", "Produce of 10")
COST_MAX = 1.25
"""Goal: a Produce request takes at most 25 % more processor time."""


def measure() -> dict[str, dict[str, float]]:
    """Return medians over the rounds, by kind and number of requests in flight.

    They are microseconds per request without and with `--data-dir`, elapsed and of the processor,
    and their ratios.
    """
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "a").mkdir()
        (Path(name) / "b").mkdir()
        plain = Broker(Path(name) / "a")
        keeping = Broker(Path(name) / "b", "--data-dir", str(Path(name) / "data"))
        frames = requests()
        try:
            return {
                f"{kind}, {window}": compare(plain, keeping, frames[kind], window)
                for kind in KINDS
                for window in WINDOWS
            }
        finally:
            plain.stop()
            keeping.stop()


def compare(plain: Broker, keeping: Broker, frame: bytes, window: int) -> dict[str, float]:
    rounds = [
        (plain.play(frame, REQUESTS, window), keeping.play(frame, REQUESTS, window))
        for _ in range(ROUNDS)
    ][1:]
    found = {}
    for name in ("clock", "processor"):
        pairs = [(getattr(without, name), getattr(kept, name)) for without, kept in rounds]
        found[name] = statistics.median(kept / without for without, kept in pairs)
        found[f"{name} us"] = statistics.median(without for without, _ in pairs) * 1e6
        found[f"{name} us kept"] = statistics.median(kept for _, kept in pairs) * 1e6
    return found


def main() -> int:
    options = parse_arguments(__doc__)
    found = measure()
    lines = ["| request, in flight | us | kept | ratio | processor us | kept | ratio |"]
    lines.append("|---|---|---|---|---|---|---|")
    for kind, costs in found.items():
        figures = " | ".join(
            f"{costs[f'{name} us']:.0f} | {costs[f'{name} us kept']:.0f} | {costs[name]:.2f}"
            for name in ("clock", "processor")
        )
        lines.append(f"| {kind} | {figures} |")
    missed = [
        f"{kind} takes {costs['processor']:.2f} times the processor time, goal {COST_MAX}"
        for kind, costs in found.items()
        if kind.startswith("Produce") and costs["processor"] > COST_MAX
    ]
    return finish(options, found, "\n".join(lines), missed)


if __name__ == "__main__":
    sys.exit(main())
