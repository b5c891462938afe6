"""Files that are deleted while a broker runs: nothing else is acknowledged, and nothing is lost."""

import itertools
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.storage.database import FILE, LOCK, Database
from kafka_shim.shim.storage.journal import FILE as JOURNAL
from tests.shim.storage.acknowledged import Life, Peer, start_broker
from tests.shim.storage.damages import SILENT, outcome_of_start
from tests.support.commands import SHIM

WAL = FILE + "-wal"


class Serving:
    """A broker in its own process with a client, and what it acknowledged."""

    def __init__(self, folder: Path) -> None:
        self.directory = folder / "data"
        self.errors = folder / "stderr"
        with self.errors.open("w") as stderr:
            self.child, addresses = start_broker(folder, stderr=stderr)
        self.peer = Peer(addresses["PLAINTEXT"])
        self.life = Life()
        self._numbers = itertools.count()
        self._rng = random.Random(1)

    def work(self, seconds: float) -> None:
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            self.life.step(self.peer, self._numbers, self._rng)


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    found = Serving(tmp_path)
    yield found
    found.peer.close()
    found.child.kill()
    found.child.wait(20)


@pytest.mark.parametrize("name", [FILE, WAL, JOURNAL, LOCK])
@pytest.mark.parametrize("seconds", [0.1, 2.5])
def test_a_deleted_file_ends_the_broker_at_the_next_write(
    serving: Serving, name: str, seconds: float
) -> None:
    serving.work(seconds)
    acknowledged = len(serving.life.records)
    (serving.directory / name).unlink()
    with pytest.raises(ConnectionError):
        serving.work(20)
    assert len(serving.life.records) == acknowledged
    assert serving.child.wait(20) == 1
    errors = serving.errors.read_text()
    assert "cannot write" in errors
    assert name in errors
    assert "Traceback" not in errors
    assert outcome_of_start(serving.directory, serving.life) != SILENT


def test_a_deleted_file_is_noticed_when_an_idle_broker_stops(serving: Serving) -> None:
    serving.work(0.1)
    (serving.directory / LOCK).unlink()
    serving.child.terminate()
    assert serving.child.wait(20) == 1
    assert f"{LOCK}'" in serving.errors.read_text()


@pytest.mark.parametrize("deleted", [LOCK, JOURNAL, WAL, FILE + "-shm"])
def test_a_second_broker_is_refused_also_if_files_were_deleted(
    serving: Serving, deleted: str
) -> None:
    serving.work(0.1)
    command = [*SHIM, "serve", "--data-dir", str(serving.directory)]
    serving.child.send_signal(signal.SIGSTOP)  # otherwise it ends when it notices what is missing
    try:
        (serving.directory / deleted).unlink()
        second = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    finally:
        serving.child.send_signal(signal.SIGCONT)
    assert second.returncode == 2
    assert "is in use by another kafka-shim" in second.stderr
    assert not (serving.directory / deleted).exists()


def test_a_renamed_directory_is_noticed(tmp_path: Path) -> None:
    database = Database(tmp_path / "data")
    database.commit([], [], [("topic", "a", "{}")])
    (tmp_path / "data").rename(tmp_path / "moved")
    with pytest.raises(FileNotFoundError):
        database.commit([], [], [("topic", "b", "{}")])
    with pytest.raises(ConfigError, match="is in use by another kafka-shim"):
        Database(tmp_path / "moved")
    database.close_without_commit()


def test_a_replaced_file_is_noticed_among_settled_ones(tmp_path: Path) -> None:
    database = Database(tmp_path)
    past_ns = time.time_ns() - 60 * 10**9
    os.utime(tmp_path, ns=(past_ns, past_ns))
    database.append_to_journal([(1, 0, b"one")])
    (tmp_path / LOCK).rename(tmp_path / "elsewhere")
    (tmp_path / LOCK).touch()
    with pytest.raises(FileNotFoundError, match="replaced"):
        database.append_to_journal([(2, 0, b"two")])
    database.close_without_commit()


@pytest.mark.parametrize("name", [FILE, WAL, FILE + "-shm", JOURNAL, LOCK])
@pytest.mark.parametrize("kind", ["symbolic", "symbolic to nothing", "hard"])
def test_nothing_is_written_through_links(tmp_path: Path, name: str, kind: str) -> None:
    directory, elsewhere = tmp_path / "data", tmp_path / "precious"
    directory.mkdir()
    if kind != "symbolic to nothing":
        elsewhere.write_bytes(b"")
    if kind == "hard":
        os.link(elsewhere, directory / name)
    else:
        (directory / name).symlink_to(elsewhere)
    with pytest.raises(ConfigError, match=f"`{name}` (is a link|has a second name)"):
        Database(directory)
    assert not elsewhere.exists() or elsewhere.read_bytes() == b""
    assert [path.name for path in directory.iterdir()] == [name]


def test_a_link_to_the_directory_itself_is_followed(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "data").symlink_to(tmp_path / "disk")
    Database(tmp_path / "data").close()
    assert (tmp_path / "disk" / FILE).exists()
