"""What recording costs: requests answered by one process over a real socket, with and without it.

    python -m benchmarks.recording [--check] [--json]

Two brokers in processes of their own, one of which records; one client sends each the same
pipelined requests in turn, so that noise of the machine meets both. The figure is the processor
time that each broker took for the same work, as the operating system counts it.
"""

import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.broker import REQUESTS, Broker, requests
from benchmarks.command import finish, parse_arguments

ROUNDS = 20
GOAL = 1.15


def measure() -> dict[str, float]:
    """Ratio of processor time with recording to that without, by kind; median over the rounds."""
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "a").mkdir()
        (Path(name) / "b").mkdir()
        plain = Broker(Path(name) / "a")
        recording = Broker(Path(name) / "b", "--record", str(Path(name) / "trace"))
        try:
            found = {}
            for kind, frame in requests().items():
                pairs = [(plain.play(frame), recording.play(frame)) for _ in range(ROUNDS)]
                found[kind] = statistics.median(b / a for a, b in pairs[1:])
                without = statistics.median(a for a, _ in pairs[1:])
                found[f"{kind} us"] = without / REQUESTS * 1e6
            return found
        finally:
            plain.stop()
            recording.stop()


def main() -> int:
    options = parse_arguments(__doc__)
    found = measure()
    kinds = list(requests())
    lines = ["| request | us without | with / without |", "|---|---|---|"]
    lines += [f"| {kind} | {found[f'{kind} us']:.0f} | {found[kind]:.2f} |" for kind in kinds]
    missed = [
        f"{kind} takes {found[kind]:.2f} times as long, goal {GOAL}"
        for kind in kinds
        if found[kind] > GOAL
    ]
    return finish(options, found, "\n".join(lines), missed)


if __name__ == "__main__":
    sys.exit(main())
