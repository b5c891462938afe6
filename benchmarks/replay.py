"""The speed of a replay into the shim: processor time of both sides, and elapsed time.

    python -m benchmarks.replay [--check] [--json]

A broker in its own process records the requests of a connection, which are then replayed to a new
broker. Each side has its own core, so its rate is the number of requests per second of its own
processor time.
"""

import sys
import tempfile
import time
from pathlib import Path

from benchmarks.broker import Broker, requests
from benchmarks.command import finish, parse_arguments
from kafka_shim.traces.replay.events import load_recording
from kafka_shim.traces.replay.replayer import Replayer
from kafka_shim.traces.replay.report import report_lines
from kafka_shim.traces.replay.target import Target

ROUNDS = 9
GOAL = 25_000
"""Of the slowest kind: requests with records are decoded, to know what the replay wrote."""


def measure() -> dict[str, dict[str, float]]:
    """Return requests per second by kind: of the replayer, of the shim, elapsed; the best rounds.

    Each round has every kind, so that temporary load of the machine does not affect only one.
    """
    frames = requests()
    rounds: dict[str, list[dict[str, float]]] = {kind: [] for kind in frames}
    with tempfile.TemporaryDirectory() as name:
        folders = {kind: Path(name) / kind for kind in rounds}
        traces = {kind: record(folders[kind], frame) for kind, frame in frames.items()}
        for turn in range(ROUNDS):
            for kind, taken in rounds.items():
                taken.append(replay(folders[kind] / str(turn), traces[kind]))
    return {
        kind: {side: 1 / min(rates[side] for rates in taken) for side in taken[0]}
        for kind, taken in rounds.items()
    }


def record(folder: Path, frame: bytes) -> Path:
    """Record a trace of some thousand equal requests."""
    folder.mkdir()
    broker = Broker(folder, "--record", str(folder / "trace"))
    try:
        for _ in range(5):
            broker.play(frame)
    finally:
        broker.stop()
    return folder / "trace"


def replay(folder: Path, trace: Path) -> dict[str, float]:
    """Return seconds per request: processor time of both sides, and elapsed."""
    folder.mkdir()
    broker = Broker(folder)
    try:
        player = Replayer(load_recording(trace), Target(broker.address))
        shim, own, clock = broker.processor_s(), time.process_time(), time.monotonic()
        report = player.replay()
        taken = {
            "replayer": time.process_time() - own,
            "shim": broker.processor_s() - shim,
            "clock": time.monotonic() - clock,
        }
    finally:
        broker.stop()
    assert report.matches_recording, "\n".join(report_lines(report))
    return {side: seconds / report.responses for side, seconds in taken.items()}


def main() -> int:
    options = parse_arguments(__doc__)
    found = measure()
    lines = ["| request | replayer | shim | on the clock |", "|---|---|---|---|"]
    for kind, rates in found.items():
        lines.append(f"| {kind} | " + " | ".join(f"{rate:,.0f}" for rate in rates.values()) + " |")
    missed = [
        f"{rates[side]:,.0f} {kind} a second of the {side}, goal {GOAL:,}"
        for kind, rates in found.items()
        for side in ("replayer", "shim")
        if rates[side] < GOAL
    ]
    return finish(options, found, "\n".join(lines), missed)


if __name__ == "__main__":
    sys.exit(main())
