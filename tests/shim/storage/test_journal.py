"""The journal restores batches that were not yet in the database when the process was killed."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from kafka_shim.shim.storage import database
from kafka_shim.shim.storage.database import LOCK, Database
from kafka_shim.shim.storage.journal import FILE, Row

ROWS: list[Row] = [(1, 0, b"one"), (2, 1, b"two"), (3, 0, b"three")]


def left(directory: Path) -> list[tuple[int, bytes]]:
    """Return the batches that the next process finds: first offset and payload."""
    found = Database(directory)
    batches = [(offset, payload) for _, offset, _, payload in found.read_all_batches()]
    found.close_without_commit()
    return batches


def killed_after(directory: Path, *appended: Sequence[Row]) -> None:
    found = Database(directory)
    for rows in appended:
        found.append_to_journal(rows)
    found.close_without_commit()


def test_appended_batches_are_restored(tmp_path: Path) -> None:
    killed_after(tmp_path, ROWS[:1], ROWS[1:])
    assert left(tmp_path) == [(1, b"one"), (2, b"two"), (3, b"three")]
    assert not (tmp_path / FILE).exists()
    assert left(tmp_path) == [(1, b"one"), (2, b"two"), (3, b"three")]


@pytest.mark.parametrize("written", [1, 5, 24, 27])
def test_an_entry_that_was_not_acknowledged_is_dropped(tmp_path: Path, written: int) -> None:
    killed_after(tmp_path, ROWS)
    mark = (tmp_path / LOCK).read_bytes()
    with (tmp_path / FILE).open("ab") as file:
        file.write((tmp_path / FILE).read_bytes()[:written])  # as if killed while it wrote
    assert (tmp_path / LOCK).read_bytes() == mark
    killed_after(tmp_path, [(4, 0, b"four")])
    assert left(tmp_path) == [(1, b"one"), (2, b"two"), (3, b"three"), (4, b"four")]


def test_committed_and_deleted_batches_are_not_restored(tmp_path: Path) -> None:
    found = Database(tmp_path)
    found.append_to_journal(ROWS)
    written = (tmp_path / FILE).read_bytes()
    found.commit([(0, 0, 3)], [(0, 5, 0, b"five")], [])
    assert not found.has_batches_in_journal
    found.close_without_commit()
    (tmp_path / FILE).write_bytes(written)  # as if killed before the journal was emptied
    assert left(tmp_path) == [(3, b"three"), (5, b"five")]


def test_a_reset_drops_appended_batches(tmp_path: Path) -> None:
    found = Database(tmp_path)
    found.append_to_journal(ROWS)
    found.commit([], [(0, 9, 0, b"nine")], [], clears_first=True)
    found.append_to_journal([(10, 0, b"ten")])
    found.close_without_commit()
    assert left(tmp_path) == [(9, b"nine"), (10, b"ten")]


def test_a_large_journal_is_emptied_into_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "JOURNAL_BYTES_MAX", 50)
    found = Database(tmp_path)
    found.append_to_journal(ROWS)
    assert not found.has_batches_in_journal
    assert len(list(found.read_all_batches())) == 3
    found.close_without_commit()


def test_a_full_disk_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Database(tmp_path)
    monkeypatch.setattr(os, "write", lambda *_: 3)
    with pytest.raises(OSError, match="No space left on device"):
        found.append_to_journal(ROWS)
    found.close_without_commit()
