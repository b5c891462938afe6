"""Where the processor time of a request goes: instructions of the shim, by stage.

    python -m benchmarks.against.instructions [--only TEXT,...] [--json]

valgrind counts the instructions outside the kernel, which depend neither on the machine's load nor
on its speed. Requests are all different. In one process, without sockets, a request is handled up
to each stage in turn, and the differences are shown. Over sockets, the rest is the event loop, the
connection, and asyncio's part of reading and writing.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path

from benchmarks.against.brokers import shim
from benchmarks.against.client import Peer, play
from benchmarks.against.kinds import KINDS, Kind
from benchmarks.against.setting import made
from benchmarks.against.stages import STAGES, WARM
from benchmarks.command import finish

REQUESTS = 2 * WARM
MODES = {"depth 64": (1, 64), "depth 1": (1, 1), "100 connections": (100, 1)}
_COUNTED = re.compile(r"I\s+refs:\s+([\d,]+)")


def counted(kind: Kind) -> dict[str, int]:
    """Return the instructions of each stage, and those of the network in each mode."""
    start = _in_process(STAGES[0].name, kind, 0)
    found, before = {}, 0
    for stage in STAGES:
        total = (_in_process(stage.name, kind, REQUESTS) - start) // REQUESTS
        found[stage.name] = total - before
        before = total
    for mode, (connections, depth) in MODES.items():
        more = _over_sockets(kind, connections, depth, REQUESTS)
        total = (more - _over_sockets(kind, connections, depth, 0)) // REQUESTS
        found[mode] = total - before
    return found


def _valgrind(log: Path) -> list[str]:
    options = ["--cache-sim=no", "--cachegrind-out-file=/dev/null", f"--log-file={log}"]
    return ["valgrind", "--tool=cachegrind", *options]


def _count(log: Path) -> int:
    match = _COUNTED.search(log.read_text())
    assert match is not None, log.read_text()
    return int(match[1].replace(",", ""))


def _in_process(stage: str, kind: Kind, requests: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        command = [sys.executable, "-m", "benchmarks.against.stages", stage, kind.name]
        subprocess.run([*_valgrind(log), *command, str(requests)], check=True)
        return _count(log)


def _over_sockets(kind: Kind, connections: int, depth: int, requests: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with shim(under=_valgrind(log)) as broker:
            setting = made(broker)
            peers = [Peer(broker) for _ in range(connections)]
            frames = kind.frames(setting, different=True)
            for count in (WARM, requests):
                if count:
                    play(broker, peers, list(islice(frames, count)), depth)
            for peer in peers:
                peer.close()
        return _count(log)


def _line(kind: str, found: dict[str, int]) -> str:
    return f"| {' | '.join([kind, *(f'{count / 1000:.1f}' for count in found.values())])} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", help="parts of names of kinds, as in produce,list")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    os.environ["PYTHONHASHSEED"] = "0"
    parts = options.only.lower().split(",")
    head = ["thousands of instructions", *(stage.name for stage in STAGES), *MODES]
    if not options.json:
        print(f"| {' | '.join(head)} |\n{'|---' * len(head)}|", flush=True)
    figures = {}
    for kind in (kind for kind in KINDS if any(part in kind.name.lower() for part in parts)):
        figures[kind.name] = counted(kind)
        if not options.json:
            print(_line(kind.name, figures[kind.name]), flush=True)
    options.check = False
    return finish(options, figures, "", []) if options.json else 0


if __name__ == "__main__":
    sys.exit(main())
