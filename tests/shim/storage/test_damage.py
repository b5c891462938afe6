"""A damaged or incomplete data directory is rejected: no acknowledged record is lost in silence."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.storage.database import FILE, LOCK, Database
from kafka_shim.shim.storage.journal import FILE as JOURNAL

WAL = FILE + "-wal"
BATCH = bytes(range(256)) * 8


def killed(directory: Path, *, journal: bool = False) -> Path:
    """Return a copy of the directory of a broker that was killed after five commits."""
    database = Database(directory / "running")
    for number in range(5):
        row = ("topic", f"orders-{number}", "{}")
        database.commit([], [(number, 0, 0, BATCH)], [row])
    if journal:
        database.append_to_journal([(1 << 50, 0, b"first"), (1 << 50 | 1, 0, b"second")])
    shutil.copytree(directory / "running", directory / "killed")
    database.close_without_commit()
    return directory / "killed"


def content(directory: Path) -> tuple[int, int]:
    database = Database(directory)
    try:
        return len(list(database.read_all_rows())), len(list(database.read_all_batches()))
    finally:
        database.close_without_commit()


def test_a_killed_broker_lost_nothing(tmp_path: Path) -> None:
    assert content(killed(tmp_path, journal=True)) == (5, 7)


def truncate(path: Path, part: float) -> None:
    os.truncate(path, int(path.stat().st_size * part))


def flip_bit(path: Path, part: float) -> None:
    whole = bytearray(path.read_bytes())
    whole[int(len(whole) * part)] ^= 1
    path.write_bytes(whole)


@pytest.mark.parametrize("damage", [truncate, flip_bit])
@pytest.mark.parametrize("part", [0.01, 0.3, 0.6, 0.9, 0.99])
def test_a_damaged_write_ahead_log_is_rejected(
    tmp_path: Path, damage: Callable[[Path, float], None], part: float
) -> None:
    directory = killed(tmp_path)
    damage(directory / WAL, part)
    with pytest.raises(ConfigError, match=r"write-ahead log is damaged or gone|malformed"):
        content(directory)


@pytest.mark.parametrize("damage", [truncate, flip_bit])
@pytest.mark.parametrize("part", [0.01, 0.5, 0.9])
def test_a_damaged_journal_is_rejected(
    tmp_path: Path, damage: Callable[[Path, float], None], part: float
) -> None:
    directory = killed(tmp_path, journal=True)
    damage(directory / JOURNAL, part)
    with pytest.raises(ConfigError, match=r"of \d+ bytes in the journal, \d+ can be read"):
        content(directory)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        (FILE, "it is missing or empty"),
        (WAL, "its write-ahead log is damaged or gone"),
        (JOURNAL, "bytes in the journal, 0 can be read"),
    ],
)
def test_a_missing_file_is_rejected(tmp_path: Path, name: str, error: str) -> None:
    directory = killed(tmp_path, journal=True)
    (directory / name).unlink()
    with pytest.raises(ConfigError, match=error):
        content(directory)


def test_every_flipped_bit_of_a_closed_file_is_found_or_harmless(tmp_path: Path) -> None:
    """Bits of SQLite's own free space may change; rows and batches may not."""
    database = Database(tmp_path)
    rows = [("topic", f"orders-{number}", '{"partitions": []}') for number in range(20)]
    database.commit([], [(number, 0, 0, BATCH) for number in range(20)], rows)
    expected = (
        list(database.read_all_rows()),
        list(database.read_all_batches()),
    )
    database.close()
    whole = (tmp_path / FILE).read_bytes()
    found = 0
    for at in range(0, len(whole), 97):
        changed = bytearray(whole)
        changed[at] ^= 1 << at % 8
        copy = tmp_path / "copy"
        copy.mkdir(exist_ok=True)
        (copy / FILE).write_bytes(changed)
        try:
            reopened = Database(copy)
        except ConfigError:
            found += 1
        else:
            try:
                assert (
                    list(reopened.read_all_rows()),
                    list(reopened.read_all_batches()),
                ) == expected
            except ConfigError:
                found += 1
            reopened.close_without_commit()
        shutil.rmtree(copy)
    assert found > 200


@pytest.mark.parametrize("table", ["kept", "batches"])
def test_a_deleted_row_is_found(tmp_path: Path, table: str) -> None:
    database = Database(tmp_path)
    database.commit([], [(1, 0, 0, BATCH), (2, 0, 0, BATCH)], [("topic", "a", "{}")])
    database.close()
    with sqlite3.connect(tmp_path / FILE) as connection:
        condition = "part = 'topic'" if table == "kept" else "id = 1 << 40"
        connection.execute(f"DELETE FROM {table} WHERE {condition}")
    connection.close()
    with pytest.raises(ConfigError, match="are missing, or there are too many"):
        content(tmp_path)


@pytest.mark.parametrize("value", ["", "x", "[]", "null", "-1", "[" * 5000])
@pytest.mark.parametrize("key", ["starts", "commit"])
def test_a_damaged_row_about_the_database_is_a_sentence(
    tmp_path: Path, key: str, value: str
) -> None:
    database = Database(tmp_path)
    database.commit([], [], [("topic", "a", "{}"), ("meta", "starts", "1")])
    database.close()
    with sqlite3.connect(tmp_path / FILE) as connection:
        changed = connection.execute(
            "UPDATE kept SET value = ? WHERE part = 'meta' AND key = ?", (value, key)
        )
        assert changed.rowcount == 1
    connection.close()
    with pytest.raises(ConfigError, match=r"kafka-shim\.db cannot be used: "):
        content(tmp_path)


def test_an_older_copy_of_a_closed_file_is_rejected(tmp_path: Path) -> None:
    for number in range(2):
        database = Database(tmp_path)
        database.commit([], [], [("topic", f"orders-{number}", "{}")])
        database.close()
        if number == 0:
            shutil.copyfile(tmp_path / FILE, tmp_path / "copy")
    shutil.move(tmp_path / "copy", tmp_path / FILE)
    for _ in range(2):
        with pytest.raises(ConfigError, match="its last 1 commits are missing"):
            content(tmp_path)


def test_after_a_refused_start_the_missing_file_can_be_put_back(tmp_path: Path) -> None:
    Database(tmp_path / "running").close()
    directory = killed(tmp_path, journal=True)
    (directory / WAL).rename(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="write-ahead log is damaged or gone"):
        content(directory)
    (tmp_path / "elsewhere").rename(directory / WAL)
    assert content(directory) == (5, 7)


def test_a_copy_of_a_closed_file_is_whole_without_its_lock(tmp_path: Path) -> None:
    database = Database(tmp_path)
    database.commit([], [], [("topic", "a", "{}")])
    database.close()
    (tmp_path / LOCK).unlink()
    assert content(tmp_path) == (1, 0)


def test_files_that_are_deleted_meanwhile_stop_the_writes(tmp_path: Path) -> None:
    database = Database(tmp_path / "data")
    database.commit([], [], [("topic", "a", "{}")])
    shutil.rmtree(tmp_path / "data")
    with pytest.raises(FileNotFoundError):
        database.append_to_journal([(1, 0, b"batch")])
    with pytest.raises(FileNotFoundError):
        database.commit([], [], [("topic", "b", "{}")])
    database.close_without_commit()


def test_a_full_disk_is_not_called_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Database(tmp_path).close_without_commit()

    def full(_: Database) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Database, "_recover_journal", full)
    with pytest.raises(ConfigError, match="the disk is full: make room"):
        Database(tmp_path)
