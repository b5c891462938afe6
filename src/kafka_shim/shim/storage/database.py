"""The file: a table of rows by part and key, a table of record batches, and the journal."""

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.storage.journal import Journal, Row as JournalRow

FILE = "kafka-shim.db"
LOCK = "lock"
APPLICATION_ID = 0x4B53_484D
"""`KSHM` in the header of the file, where SQLite has room for whose it is."""
FORMAT = 1
OFFSET_BITS = 40
"""The id of a batch is the number of its log and, in so many bits, its first offset."""
LOGS_MAX = 1 << 63 - OFFSET_BITS

PAGE_BYTES = 8192
CHECKPOINT_PAGES = 4096
_SCHEMA = f"""
CREATE TABLE kept (part TEXT, key TEXT, value TEXT, PRIMARY KEY (part, key)) WITHOUT ROWID;
CREATE TABLE batches (id INTEGER PRIMARY KEY, is_clean INTEGER, payload BLOB);
CREATE VIEW topics AS
  SELECT t.key AS topic, p.key AS partition, json_extract(p.value, '$.log') AS log
  FROM kept t, json_each(t.value, '$.partitions') p WHERE t.part = 'topic';
CREATE VIEW records AS
  SELECT t.topic, t.partition, b.id & {(1 << OFFSET_BITS) - 1} AS base_offset, b.payload
  FROM batches b JOIN topics t ON t.log = b.id >> {OFFSET_BITS};
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {FORMAT};
"""  # noqa: S608 - made of numbers alone

JOURNAL_BYTES_MAX = 1 << 18
"""After so many bytes batches go from the journal into the database."""
_ROUND = ("meta", "journal")
"""Part and key of the round of the journal that is not yet in the database."""
_INSERT = "INSERT OR REPLACE INTO batches VALUES (?, ?, ?)"

Row = tuple[str, str, str | None]
"""Part, key and value; None: there is no such row any more."""
Batch = tuple[int, int, int, bytes]
"""Number of its log, first offset, whether it was cleaned, and its bytes."""


class Database:
    """The file of a data directory, which only this process may use."""

    def __init__(self, directory: Path) -> None:
        """Open or create the file; ConfigError if it cannot be used."""
        self._where = f"--data-dir {directory}"
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise ConfigError(f"{self._where}: {error.strerror}: {error.filename}") from error
        with contextlib.ExitStack() as opened:
            opened.callback(os.close, self._lock)
            self._take_lock()
            self._file = directory / FILE
            self._open(opened)
            self._journal = Journal(directory)
            opened.callback(self._journal.close)
            self._recover()
            self._opened = opened.pop_all()

    def _take_lock(self) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            text = "is in use by another kafka-shim; stop it, or choose another directory"
            raise ConfigError(f"{self._where} {text}") from error

    def _open(self, opened: contextlib.ExitStack) -> None:
        is_new = not self._file.exists() or self._file.stat().st_size == 0
        try:
            self._connection = sqlite3.connect(
                self._file, isolation_level=None, check_same_thread=False
            )
            opened.callback(self._connection.close)
            self._file.chmod(0o600)
            self._prepare(is_new=is_new)
        except (sqlite3.Error, OSError) as error:
            raise self.damaged(error) from error

    def _prepare(self, *, is_new: bool) -> None:
        run = self._connection.execute
        if is_new:
            run(f"PRAGMA page_size = {PAGE_BYTES}")
        else:
            self._check()
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = OFF")
        run(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        if is_new:
            self._connection.executescript(f"BEGIN; {_SCHEMA} COMMIT;")

    def _recover(self) -> None:
        """Move the batches in the journal of a killed process into the database."""
        found = self._connection.execute(
            "SELECT value FROM kept WHERE part = ? AND key = ?", _ROUND
        ).fetchone()
        self._journal.round = int(found[0]) if found else 0
        rows = [row for number, row in self._journal.read() if number == self._journal.round]
        self._journal.rows = rows
        try:
            self.flush()
        except (sqlite3.Error, OSError) as error:
            raise self.damaged(error) from error

    def _check(self) -> None:
        """Raise ConfigError for a damaged file, and for one with another format."""
        run = self._connection.execute
        if run("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            text = "is not a file of kafka-shim; choose another directory"
            raise ConfigError(f"{self._where}: {FILE} {text}")
        written = run("PRAGMA user_version").fetchone()[0]
        if written != FORMAT:
            text = f"has format {written}; this kafka-shim reads format {FORMAT}"
            raise ConfigError(f"{self._where}: {FILE} {text}")
        said = run("PRAGMA quick_check(1)").fetchone()[0]
        if said != "ok":
            raise self.damaged(said)

    def damaged(self, why: object) -> ConfigError:
        """Return the error for content that cannot be read."""
        told = " ".join(str(why).split())
        text = f"cannot be used: {told}; remove the directory to begin anew"
        return ConfigError(f"{self._where}: {FILE} {text}")

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """Yield every row: part, key, value."""
        yield from self._read("SELECT part, key, value FROM kept ORDER BY part, key")

    def batches(self) -> Iterator[Batch]:
        """Yield all batches by log and offset."""
        mask = (1 << OFFSET_BITS) - 1
        for number, is_clean, payload in self._read("SELECT * FROM batches ORDER BY id"):
            yield number >> OFFSET_BITS, number & mask, is_clean, payload

    def _read(self, question: str) -> Iterator[Any]:
        try:
            yield from self._connection.execute(question)
        except sqlite3.Error as error:
            raise self.damaged(error) from error

    @property
    def is_behind(self) -> bool:
        """Return whether the journal contains batches."""
        return bool(self._journal.size)

    def append(self, rows: Sequence[JournalRow]) -> None:
        """Write new batches to the journal. Raises sqlite3.Error or OSError."""
        self._journal.append(rows)
        if self._journal.size > JOURNAL_BYTES_MAX:
            self.flush()

    def flush(self) -> None:
        """Commit the batches of the journal. Raises sqlite3.Error or OSError."""
        if self._journal.size:
            self.write((), (), ())

    def write(
        self,
        gone: Iterable[tuple[int, int, int]],
        batches: Iterable[Batch],
        rows: Iterable[Row],
        *,
        clears: bool = False,
    ) -> None:
        """Commit in one transaction: the journal's batches, new batches, rows, and deletions.

        `gone` are batches to delete: number of the log, first offset, offset after the last.
        `clears`: everything that was written before, also in the journal, is deleted first. Raises
        sqlite3.Error or OSError; then nothing is written.
        """
        run, run_many = self._connection.execute, self._connection.executemany
        journal = self._journal
        following = journal.round + 1 if journal.size else journal.round
        run("BEGIN")
        try:
            if clears:
                run("DELETE FROM kept")
                run("DELETE FROM batches")
            else:
                run_many(_INSERT, journal.rows)
            if following:
                run("INSERT OR REPLACE INTO kept VALUES (?, ?, ?)", (*_ROUND, str(following)))
            for number, first, before in gone:
                at = number << OFFSET_BITS
                run("DELETE FROM batches WHERE id >= ? AND id < ?", (at + first, at + before))
            run_many(_INSERT, [_batch_row(*batch) for batch in batches])
            for part, key, value in rows:
                if value is None:
                    run("DELETE FROM kept WHERE part = ? AND key = ?", (part, key))
                else:
                    run("INSERT OR REPLACE INTO kept VALUES (?, ?, ?)", (part, key, value))
            run("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                run("ROLLBACK")
            raise
        journal.begin(following)

    def close(self) -> None:
        """Release the directory; after `flush`, it contains one file."""
        self._opened.close()


def _batch_row(number: int, offset: int, is_clean: int, payload: bytes) -> JournalRow:
    return number << OFFSET_BITS | offset, is_clean, payload
