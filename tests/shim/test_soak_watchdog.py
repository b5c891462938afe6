"""The soak keeps the stacks of a client that makes no progress, and those of the broker."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from benchmarks.soak import __main__ as soak, watchdog
from kafka_shim.testing.broker_start import start

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the soak reads /proc")
HUNG_S = 1.0


class StuckWork:
    """Work of a client that never ends a round."""

    def kinds(self) -> dict[str, Callable[[], None]]:
        return {"stuck": self.never_returns}

    def never_returns(self) -> None:
        time.sleep(600)


def test_stacks_of_both_sides_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setenv(watchdog.FOLDER, "")
    watchdog.prepare(tmp_path)
    others = broker_pids()  # they handle no SIGUSR1
    with start() as broker:
        [pid] = broker_pids() - others
        worker = soak.Worker("stuck", cast("Any", StuckWork()), tmp_path, pid, HUNG_S)
        try:
            deadline = time.monotonic() + 60
            while not worker.kept and time.monotonic() < deadline:
                time.sleep(0.2)
                worker.watch()
        finally:
            worker.stop()
        assert broker.metrics()  # the broker is unharmed
    assert worker.hung == 1
    client, server = worker.kept[0].read_text().split("== broker")
    assert "never_returns" in client
    assert "thread " in client
    assert "run_forever" in server
    assert f"process {pid}" in server


def broker_pids() -> set[int]:
    """Return the processes that this one started and that run a broker."""
    pids = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if parent == os.getpid() and b"kafka_shim" in command:
            pids.add(int(folder.name))
    return pids
