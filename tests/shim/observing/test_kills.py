"""A recording that is killed at any moment is readable up to its last complete block."""

import subprocess
import sys
from pathlib import Path

import pytest

from kafka_shim.trace_format.entries import Request
from tests.shim.observing.test_recorder import ROOT, entries

CHILD = "tests.shim.observing.killed_recordings"


def killed(folder: Path, count: int, seed: str) -> int:
    """Record and kill `count` times, check each trace, and return how many have requests."""
    command = [sys.executable, "-m", CHILD, str(folder), str(count), seed]
    subprocess.run(command, cwd=ROOT, check=True, timeout=300)
    filled = 0
    for number in range(count):
        told = int.from_bytes((folder / f"{number:03d}.told").read_bytes(), "big")
        if not (folder / f"{number:03d}").exists():
            assert told == 0
            continue
        found, damage = entries(folder / f"{number:03d}")
        requests = [entry for _, entry in found if isinstance(entry, Request)]
        assert all(part.is_tail for part in damage)
        assert [request.sequence for request in requests] == list(range(len(requests)))
        assert told <= len(requests) <= told + 25
        filled += bool(requests)
    return filled


def test_traces_of_fifty_killed_recordings_are_readable(tmp_path: Path) -> None:
    assert killed(tmp_path, 50, "fifty") > 25


@pytest.mark.heavy
def test_traces_of_two_hundred_killed_recordings_are_readable(tmp_path: Path) -> None:
    assert killed(tmp_path, 200, "two hundred") > 100
