"""The cost of recording: requests over a socket, with and without it.

    python -m benchmarks.recording [--check] [--json]

Two brokers run in their own processes, one of them with `--record`. A client sends the same
requests to both in turn, so that other load of the machine affects both. The request rate is
measured with five requests in flight, the default of Java's producer
(max.in.flight.requests.per.connection), and the broker's processor time with fifty in flight, where
recording costs most.
"""

import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.broker import Broker, requests
from benchmarks.command import finish, parse_arguments

ROUNDS = 25
IN_FLIGHT = 5
MANY = 50
REQUESTS = 4_000
"""Requests in a round, which must take longer than 100 ms, after which a recorder writes."""
RATE_LEFT = 0.85
"""Goal: recording costs at most 15 % of the request rate."""


def measure() -> dict[str, dict[str, float]]:
    """Return medians over the rounds by kind of request.

    They are the ratios of request rates and of processor times with and without recording, and the
    microseconds per request without recording.
    """
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "a").mkdir()
        (Path(name) / "b").mkdir()
        plain = Broker(Path(name) / "a")
        recording = Broker(Path(name) / "b", "--record", str(Path(name) / "trace"))
        try:
            return {kind: compare(plain, recording, frame) for kind, frame in requests().items()}
        finally:
            plain.stop()
            recording.stop()


def compare(plain: Broker, recording: Broker, frame: bytes) -> dict[str, float]:
    found = {}
    for name, window in (("clock", IN_FLIGHT), ("processor", MANY)):
        pairs = [
            [getattr(broker.play(frame, REQUESTS, window), name) for broker in (plain, recording)]
            for _ in range(ROUNDS)
        ]
        found[name] = statistics.median(with_it / without for without, with_it in pairs[1:])
        found[f"{name} us"] = statistics.median(without for without, _ in pairs[1:]) * 1e6
    found["rate"] = 1 / found.pop("clock")
    return found


def main() -> int:
    options = parse_arguments(__doc__)
    found = measure()
    lines = ["| request | us without | rate with recording | processor us | with / without |"]
    lines.append("|---|---|---|---|---|")
    for kind, costs in found.items():
        figures = f"{costs['clock us']:.0f} | {costs['rate']:.0%} | {costs['processor us']:.0f}"
        lines.append(f"| {kind} | {figures} | {costs['processor']:.2f} |")
    missed = [
        f"{costs['rate']:.0%} of the rate of {kind} are left, goal {RATE_LEFT:.0%}"
        for kind, costs in found.items()
        if costs["rate"] < RATE_LEFT
    ]
    return finish(options, found, "\n".join(lines), missed)


if __name__ == "__main__":
    sys.exit(main())
