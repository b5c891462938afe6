"""How fast a trace is replayed into the shim: processor time of either side, and time on the clock.

    python -m benchmarks.replay [--check] [--json]

A broker in a process of its own records a connection's requests; a second one, as fresh as the
first, gets them replayed. Both sides have a core, so the rate of each is what it can do in a second
of its processor time, as the scheduler counts it.
"""

import sys
import tempfile
import time
from pathlib import Path

from benchmarks.broker import Broker, requests
from benchmarks.command import finish, parse_arguments
from kafka_shim.shim.traffic.replay.events import read_recording
from kafka_shim.shim.traffic.replay.player import Player
from kafka_shim.shim.traffic.replay.target import Target

ROUNDS = 9
GOAL = 50_000


def measure() -> dict[str, dict[str, float]]:
    """Requests per second by kind: of the replayer, of the shim, on the clock; best of rounds.

    Each round has every kind, so that a slow while of the machine does not fall upon one of them.
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
    """A trace of some thousand equal requests."""
    folder.mkdir()
    broker = Broker(folder, "--record", str(folder / "trace"))
    try:
        for _ in range(5):
            broker.play(frame)
    finally:
        broker.stop()
    return folder / "trace"


def replay(folder: Path, trace: Path) -> dict[str, float]:
    """Seconds a request, of either side's processor and on the clock."""
    folder.mkdir()
    broker = Broker(folder)
    try:
        player = Player(read_recording(trace), Target(broker.address))
        shim, own, clock = broker.processor_s(), time.process_time(), time.monotonic()
        report = player.play()
        taken = {
            "replayer": time.process_time() - own,
            "shim": broker.processor_s() - shim,
            "clock": time.monotonic() - clock,
        }
    finally:
        broker.stop()
    assert report.holds, "\n".join(report.lines())
    return {side: seconds / report.answers for side, seconds in taken.items()}


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
