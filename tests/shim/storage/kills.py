"""A broker that is killed at random moments, while a client sends requests."""

import contextlib
import itertools
import random
import subprocess
import time
from pathlib import Path

from tests.shim.storage.acknowledged import Life, Peer, start_broker, what_is_missing

LIFE_S = 0.25


def kill_often(folder: Path, kills: int, seed: int) -> int:
    """Kill a broker `kills` times at random moments; return the number of acknowledged records."""
    rng, numbers = random.Random(seed), itertools.count()
    life = Life()
    for _ in range(kills):
        child, addresses = start_broker(folder)
        try:
            peer = Peer(addresses["PLAINTEXT"])
            assert what_is_missing(peer.ask, life) == []
            ends = time.monotonic() + rng.random() * LIFE_S
            while time.monotonic() < ends - 0.02:
                life.step(peer, numbers, rng)
            moment_s = rng.random() / 50
            killer = subprocess.Popen(["sh", "-c", f"sleep {moment_s:.4f}; kill -9 {child.pid}"])
            with contextlib.suppress(ConnectionError):
                while True:
                    life.step(peer, numbers, rng)
            killer.wait(10)
            peer.close()
        finally:
            child.kill()
            child.wait(10)
    child, addresses = start_broker(folder)
    peer = Peer(addresses["PLAINTEXT"])
    assert what_is_missing(peer.ask, life) == []
    peer.close()
    child.terminate()
    assert child.wait(10) == 0
    return len(life.records)
