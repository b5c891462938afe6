"""Another program with a transaction on the database: the broker waits briefly, then says who."""

import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.shim.storage.database import FILE
from tests.shim.storage.acknowledged import WORK, Life, Peer, start_broker, what_is_missing
from tests.support.commands import SHIM

HOLDING = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for statement in sys.argv[2].split(";"):
    connection.execute(statement)
print("holding", flush=True)
time.sleep(float(sys.argv[3]))
connection.execute("ROLLBACK")
print("released", flush=True)
time.sleep(60)
"""


@contextmanager
def transaction(directory: Path, statements: str, seconds: float) -> Iterator[int]:
    """Hold a transaction in another process; return its id."""
    words = [sys.executable, "-c", HOLDING, str(directory / FILE), statements, str(seconds)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "holding\n"
        try:
            yield child.pid
        finally:
            child.kill()


@pytest.mark.parametrize("work", [WORK[0], WORK[3]])
@pytest.mark.parametrize(
    "statements", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE", "BEGIN;DELETE FROM kept"]
)
def test_a_long_transaction_ends_the_broker_within_two_seconds(
    tmp_path: Path, statements: str, work: Any
) -> None:
    errors = tmp_path / "stderr"
    with errors.open("w") as stderr:
        child, addresses = start_broker(tmp_path, stderr=stderr)
    peer, life = Peer(addresses["PLAINTEXT"]), Life()
    try:
        life.send_all(peer, [(each, number) for number, each in enumerate(WORK)])
        time.sleep(0.3)
        with transaction(tmp_path / "data", statements, 60) as holder:
            started = time.monotonic()
            with pytest.raises(ConnectionError):
                send_for_seconds(peer, life, work, 20)
            assert time.monotonic() - started < 4
            assert child.wait(20) == 1
        said = errors.read_text()
        assert "another program has locked the database for 1 s" in said
        assert f"process {holder} (python" in said
        assert "open the database read-only" in said
    finally:
        peer.close()
        child.kill()
        child.wait(20)
    check_restart(tmp_path, life)


def test_a_short_transaction_delays_responses(tmp_path: Path) -> None:
    child, addresses = start_broker(tmp_path)
    peer, life = Peer(addresses["PLAINTEXT"]), Life()
    try:
        with transaction(tmp_path / "data", "BEGIN IMMEDIATE", 0.5):
            life.send_all(peer, [(each, number) for number, each in enumerate(WORK)])
        life.send_all(peer, [(each, number + 10) for number, each in enumerate(WORK)])
    finally:
        peer.close()
        child.kill()
        child.wait(20)
    check_restart(tmp_path, life)


def send_for_seconds(peer: Peer, life: Life, work: Any, seconds: float) -> None:
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        life.send_all(peer, [(work, 100)])


def check_restart(folder: Path, life: Life) -> None:
    child, addresses = start_broker(folder)
    peer = Peer(addresses["PLAINTEXT"])
    assert what_is_missing(peer.ask, life) == []
    peer.close()
    child.terminate()
    assert child.wait(20) == 0


def test_a_start_during_a_transaction_says_who_has_it(tmp_path: Path) -> None:
    child, _ = start_broker(tmp_path)
    child.terminate()
    assert child.wait(20) == 0
    with transaction(tmp_path / "data", "BEGIN IMMEDIATE", 60) as holder:
        done = subprocess.run(
            [*SHIM, "serve", "--data-dir", str(tmp_path / "data")],
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    assert done.returncode in (1, 2)
    assert f"process {holder} (python" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "remove the directory" not in done.stderr


def test_reading_does_not_disturb_the_broker(tmp_path: Path) -> None:
    child, addresses = start_broker(tmp_path)
    peer, life = Peer(addresses["PLAINTEXT"]), Life()
    try:
        uri = f"file:{tmp_path / 'data' / FILE}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            assert reader.execute("SELECT count(*) FROM kept").fetchone()[0] > 0
            life.send_all(peer, [(each, number) for number, each in enumerate(WORK)])
            with pytest.raises(sqlite3.OperationalError, match="readonly"):
                reader.execute("DELETE FROM kept")
        assert what_is_missing(peer.ask, life) == []
    finally:
        peer.close()
        child.terminate()
        assert child.wait(20) == 0
