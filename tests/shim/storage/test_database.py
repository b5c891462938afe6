"""The file of a data directory: its permissions, its view for people, and rejected files."""

import sqlite3
from pathlib import Path

import pytest

from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.storage.database import FILE, Database


def test_a_second_process_is_rejected(tmp_path: Path) -> None:
    first = Database(tmp_path)
    with pytest.raises(ConfigError, match="is in use by another kafka-shim"):
        Database(tmp_path)
    first.close_without_commit()
    Database(tmp_path).close_without_commit()


def test_only_its_owner_may_read_the_file(tmp_path: Path) -> None:
    Database(tmp_path).close_without_commit()
    assert (tmp_path / FILE).stat().st_mode & 0o077 == 0


def test_an_invalid_file_is_rejected(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"not a database, but long enough to have been one" * 100)
    with pytest.raises(ConfigError, match="cannot be used: file is not a database"):
        Database(tmp_path)


def test_a_database_of_another_program_is_rejected(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute("CREATE TABLE kept (a)")
    connection.close()
    with pytest.raises(ConfigError, match="is not a file of kafka-shim"):
        Database(tmp_path)


def test_a_later_format_is_rejected(tmp_path: Path) -> None:
    Database(tmp_path).close_without_commit()
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(ConfigError, match="has format 99; this kafka-shim reads format 5"):
        Database(tmp_path)


def test_a_damaged_file_is_rejected(tmp_path: Path) -> None:
    found = Database(tmp_path)
    found.commit([], [(1, n, 0, bytes(5000)) for n in range(200)], [])
    found.close_without_commit()
    with (tmp_path / FILE).open("r+b") as file:
        file.seek(16 * 8192)
        file.write(b"\xff" * 8192 * 20)
    with pytest.raises(ConfigError, match=r"cannot be used: .*; remove the directory"):
        Database(tmp_path)


def test_an_unusable_directory_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"--data-dir .*file/below: Not a directory"):
        Database(tmp_path / "file" / "below")


def test_a_view_shows_records_with_topic_names(tmp_path: Path) -> None:
    found = Database(tmp_path)
    topic = '{"partitions": [{"log": 7}]}'
    found.commit([], [(7, 5, 0, b"batch")], [("topic", "orders", topic)])
    found.close_without_commit()
    with sqlite3.connect(tmp_path / FILE) as connection:
        rows = list(connection.execute("SELECT * FROM records"))
    connection.close()
    assert rows == [("orders", 0, 5, b"batch")]
