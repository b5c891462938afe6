"""The file: a table of rows by part and key, a table of record batches, and the journal.

Each row and each batch has a checksum. Each commit has its number and the sums of all checksums, so
that what a damaged disk changed or lost is found when the file is read.
"""

import contextlib
import errno
import os
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.storage.journal import (
    FILE as JOURNAL,
    BatchJournal,
    MappedCommitMark,
    Row as JournalRow,
    batch_checksum,
)
from kafka_shim.shim.storage.locked_directory import LockedDirectory
from kafka_shim.text.logs import Log

log = Log("shim.storage")

FILE = "kafka-shim.db"
LOCK = "lock"
APPLICATION_ID = 0x4B53_484D
"""`KSHM` in the header of the file, where SQLite has room for whose it is."""
FORMAT = 5
_FILES = (FILE, FILE + "-wal", JOURNAL, LOCK)
OFFSET_BITS = 40
"""The id of a batch is the number of its log and, in so many bits, its first offset."""
LOGS_MAX = 1 << 63 - OFFSET_BITS

PAGE_BYTES = 8192
CHECKPOINT_PAGES = 4096
_SCHEMA = f"""
CREATE TABLE kept (part TEXT, key TEXT, value TEXT, checksum INTEGER, PRIMARY KEY (part, key))
  WITHOUT ROWID;
CREATE TABLE batches (id INTEGER PRIMARY KEY, is_clean INTEGER, payload BLOB, checksum INTEGER);
CREATE VIEW topics AS
  SELECT t.key AS topic, p.key AS partition, json_extract(p.value, '$.log') AS log
  FROM kept t, json_each(t.value, '$.partitions') p WHERE t.part = 'topic';
CREATE VIEW records AS
  SELECT t.topic, t.partition, b.id & {(1 << OFFSET_BITS) - 1} AS base_offset, b.payload
  FROM batches b JOIN topics t ON t.log = b.id >> {OFFSET_BITS};
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {FORMAT};
"""  # noqa: S608 - made of numbers alone

LOCKED_S_MAX = 1.0
"""So long responses wait for the end of another program's transaction."""
JOURNAL_BYTES_MAX = 1 << 18
"""After so many bytes batches go from the journal into the database."""
_COMMIT = ("meta", "commit")
"""Part and key of the last commit."""
_INSERT = "INSERT INTO batches VALUES (?, ?, ?, ?)"

Row = tuple[str, str, str | None]
"""Part, key and value; None: there is no such row any more."""
Batch = tuple[int, int, int, bytes]
"""Number of its log, first offset, whether it was cleaned, and its bytes."""


class CommitSums(msgspec.Struct, frozen=True):
    """The last commit: its number, and the sums of the checksums of all rows and batches."""

    number: int = 0
    rows: int = 0
    batches: int = 0


class Database:
    """The file of a data directory, which only this process may use."""

    def __init__(self, directory: Path) -> None:
        """Open or create the file. Raise ConfigError if it cannot be used."""
        self._where = f"--data-dir {directory}"
        self._file = directory / FILE
        with contextlib.ExitStack() as opened:
            self._directory = LockedDirectory(directory)
            opened.callback(self._directory.unlock)
            self._directory.require_no_links((*_FILES, FILE + "-shm"))
            try:
                self._mark = MappedCommitMark(directory / LOCK)
                opened.callback(self._mark.close_map)
                self._open_database(opened)
                self._journal = BatchJournal(directory)
                opened.callback(self._journal.close)
                self._recover_journal()
                self._directory.watch_files(_FILES)
            except (sqlite3.Error, OSError, msgspec.DecodeError) as error:
                raise self._opening_error(error) from error
            self._opened = opened.pop_all()

    def _open_database(self, opened: contextlib.ExitStack) -> None:
        is_new = not self._file.exists() or self._file.stat().st_size == 0
        if is_new and self._mark.last is not None:
            raise self.damaged_content_error("it is missing or empty")
        self._connection = sqlite3.connect(
            self._file, timeout=LOCKED_S_MAX, isolation_level=None, check_same_thread=False
        )
        opened.callback(self._connection.close)
        self._file.chmod(0o600)
        self._prepare_file(is_new=is_new)

    def _prepare_file(self, *, is_new: bool) -> None:
        run = self._connection.execute
        if is_new:
            run(f"PRAGMA page_size = {PAGE_BYTES}")
        else:
            self._require_intact_file_of_format()
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = OFF")
        run(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        if is_new:
            self._connection.executescript(f"BEGIN; {_SCHEMA} COMMIT;")

    def _recover_journal(self) -> None:
        """Move the batches in the journal of a killed process into the database."""
        row = self._connection.execute(
            "SELECT value FROM kept WHERE part = ? AND key = ?", _COMMIT
        ).fetchone()
        self._commit = msgspec.json.decode(row[0], type=CommitSums) if row else CommitSums()
        self._journal.read_entries_after_commit(self._commit.number)
        self._require_acknowledged_commits()
        self._journal.drop_stale_entries()
        self.commit_journal_batches()

    def _require_acknowledged_commits(self) -> None:
        """Raise ConfigError if the files lack something that was acknowledged.

        The mark is written after each commit, so a kill can leave it one commit behind.
        """
        last, commit = self._mark.last, self._commit
        if last is None or last.commit_number < commit.number - 1:
            if commit.number:
                log.warning(
                    "the file `lock` is missing or from another time: whether the last changes"
                    " are there is not known",
                    directory=str(self._file.parent), last_commit=commit.number,
                )  # fmt: skip
        elif last.commit_number > commit.number:
            lost = last.commit_number - commit.number
            raise self.damaged_content_error(
                f"its last {lost} commits are missing, since it is an older copy, or its"
                " write-ahead log is damaged or gone"
            )
        elif last.commit_number == commit.number and self._journal.size < last.journal_bytes:
            raise self.damaged_content_error(
                f"of {last.journal_bytes} bytes in the journal, {self._journal.size} can be read"
            )

    def _require_intact_file_of_format(self) -> None:
        """Raise ConfigError for a damaged file, and for one with another format."""
        run = self._connection.execute
        if run("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            if self._mark.last is not None:
                raise self.damaged_content_error("its write-ahead log is damaged or gone")
            text = "is not a file of kafka-shim; choose another directory"
            raise ConfigError(f"{self._where}: {FILE} {text}")
        written = run("PRAGMA user_version").fetchone()[0]
        if written != FORMAT:
            text = f"has format {written}; this kafka-shim reads format {FORMAT}"
            raise ConfigError(f"{self._where}: {FILE} {text}")
        result = run("PRAGMA quick_check(1)").fetchone()[0]
        if result != "ok":
            raise self.damaged_content_error(result)

    def _opening_error(self, error: Exception) -> ConfigError:
        if _is_disk_full(error):
            return ConfigError(f"{self._where}: the disk is full: make room, then start again")
        if _is_locked(error):
            return ConfigError(f"{self._where}: {self._lock_error_text()}")
        if isinstance(error, OSError) and error.filename:
            return ConfigError(f"{self._where}: {error.strerror}: {error.filename}")
        return self.damaged_content_error(error)

    def damaged_content_error(self, why: object) -> ConfigError:
        """Return the error for content that cannot be read."""
        reason = " ".join(str(why).split())
        text = f"cannot be used: {reason}; remove the directory to begin anew"
        return ConfigError(f"{self._where}: {FILE} {text}")

    def read_all_rows(self) -> Iterator[tuple[str, str, str]]:
        """Yield every row: part, key, value. Raise ConfigError if one is damaged or missing."""
        total = 0
        for part, key, value, checksum in self._run_read_query(
            "SELECT * FROM kept ORDER BY part, key"
        ):
            if (part, key) == _COMMIT:
                continue
            if checksum != _row_checksum(part, key, value):
                raise self.damaged_content_error(f"the row {part} {key[:80]!r} is damaged")
            total += checksum
            yield part, key, value
        if total != self._commit.rows:
            raise self.damaged_content_error("rows are missing, or there are too many")

    def read_all_batches(self) -> Iterator[Batch]:
        """Yield all batches by log and offset. Raise ConfigError if one is damaged or missing."""
        mask = (1 << OFFSET_BITS) - 1
        total = 0
        query = "SELECT id, is_clean, payload, checksum FROM batches ORDER BY id"
        for batch_id, is_clean, payload, checksum in self._run_read_query(query):
            number, offset = batch_id >> OFFSET_BITS, batch_id & mask
            if checksum != batch_checksum(batch_id, is_clean, payload):
                raise self.damaged_content_error(
                    f"the batch at offset {offset} of log {number} is damaged"
                )
            total += checksum
            yield number, offset, is_clean, payload
        if total != self._commit.batches:
            raise self.damaged_content_error("batches are missing, or there are too many")

    def _run_read_query(self, query: str) -> Iterator[Any]:
        try:
            yield from self._connection.execute(query)
        except sqlite3.Error as error:
            raise self.damaged_content_error(error) from error

    @property
    def has_batches_in_journal(self) -> bool:
        """Return whether the journal contains batches."""
        return bool(self._journal.size)

    def append_to_journal(self, rows: Sequence[JournalRow]) -> None:
        """Write new batches to the journal. Raise sqlite3.Error or OSError if that fails."""
        self._directory.require_watched_files()
        self._journal.append_batches(rows)
        self._mark.write_mark(self._commit.number, self._journal.size)
        if self._journal.size > JOURNAL_BYTES_MAX:
            self.commit_journal_batches()

    def commit_journal_batches(self) -> None:
        """Commit the batches of the journal. Raise sqlite3.Error or OSError if that fails."""
        if self._journal.size:
            self.commit((), (), ())

    def commit(
        self,
        deletions: Iterable[tuple[int, int, int]],
        batches: Iterable[Batch],
        rows: Iterable[Row],
        deleted_prefixes: Iterable[tuple[str, str]] = (),
        *,
        clears_first: bool = False,
    ) -> None:
        """Commit in one transaction: the journal's batches, new batches, rows, and deletions.

        `deletions` are batches: number of the log, first offset, offset after the last.
        `deleted_prefixes` are rows that are deleted before: part and beginning of the key.
        `clears_first`: everything that was written before, also in the journal, is deleted first.
        Raise sqlite3.Error or OSError if that fails; then nothing is written.
        """
        self._directory.require_watched_files()
        run = self._connection.execute
        self._begin_transaction()
        try:
            commit = self._delete_everything() if clears_first else self._commit
            sums = _ChecksumTransaction(run, commit.rows, commit.batches)
            if not clears_first:
                sums.insert_new_batches(self._journal.rows)
            for number, first, end in deletions:
                sums.delete_batches_in_id_range(
                    number << OFFSET_BITS | first, (number << OFFSET_BITS) + end
                )
            for batch in batches:
                row = _pack_journal_row(*batch)
                sums.delete_batches_in_id_range(row[0], row[0] + 1)
                sums.insert_new_batches([row])
            for part, prefix in deleted_prefixes:
                sums.delete_rows_with_prefix(part, prefix)
            for part, key, value in rows:
                sums.put_row(part, key, value)
            commit = CommitSums(self._commit.number + 1, sums.rows, sums.batches)
            value = msgspec.json.encode(commit).decode()
            run("INSERT OR REPLACE INTO kept VALUES (?, ?, ?, 0)", (*_COMMIT, value))
            run("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                run("ROLLBACK")
            raise
        self._commit = commit
        self._journal.clear(commit.number)
        self._mark.write_mark(commit.number, 0)

    def _begin_transaction(self) -> None:
        """Begin a transaction. Raise TimeoutError if another program keeps the file locked."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if not _is_locked(error):
                raise
            raise TimeoutError(errno.ETIMEDOUT, self._lock_error_text(), str(self._file)) from error

    def _lock_error_text(self) -> str:
        holders = other_processes_with_file(self._file) or ["unknown"]
        return (
            f"another program has locked the database for {LOCKED_S_MAX:g} s (process"
            f" {', '.join(holders)}); end its transaction, and open the database read-only"
        )

    def _delete_everything(self) -> CommitSums:
        self._connection.execute("DELETE FROM kept")
        self._connection.execute("DELETE FROM batches")
        return CommitSums()

    def close(self) -> None:
        """Commit what is left and release the directory, with one file beside `lock`.

        Raise sqlite3.Error or OSError if that fails.
        """
        try:
            self._directory.require_watched_files()
            self.commit_journal_batches()
        finally:
            self.close_without_commit()

    def close_without_commit(self) -> None:
        """Release the directory without another commit."""
        self._opened.close()


class _ChecksumTransaction:
    """Changes rows and batches in a transaction, and the sums of their checksums."""

    def __init__(self, run: Callable[..., sqlite3.Cursor], rows: int, batches: int) -> None:
        self._run = run
        self.rows = rows
        self.batches = batches

    def insert_new_batches(self, batches: Sequence[JournalRow]) -> None:
        for batch in batches:
            checksum = batch_checksum(*batch)
            self._run(_INSERT, (*batch, checksum))
            self.batches += checksum

    def delete_batches_in_id_range(self, first_id: int, end_id: int) -> None:
        """Delete batches by their ids."""
        found = self._run(
            "SELECT sum(checksum) FROM batches WHERE id >= ? AND id < ?", (first_id, end_id)
        ).fetchone()
        if found[0] is not None:
            self.batches -= found[0]
            self._run("DELETE FROM batches WHERE id >= ? AND id < ?", (first_id, end_id))

    def delete_rows_with_prefix(self, part: str, prefix: str) -> None:
        """Delete the rows of a part whose keys begin so."""
        where = "FROM kept WHERE part = ? AND key >= ? AND key < ?"
        keys = part, prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)
        deleted = self._run(f"SELECT sum(checksum) {where}", keys).fetchone()
        if deleted[0] is not None:
            self.rows -= deleted[0]
            self._run(f"DELETE {where}", keys)

    def put_row(self, part: str, key: str, value: str | None) -> None:
        """Insert, replace or (None) delete a row."""
        before = self._run(
            "SELECT checksum FROM kept WHERE part = ? AND key = ?", (part, key)
        ).fetchone()
        if before is not None:
            self.rows -= before[0]
        if value is None:
            self._run("DELETE FROM kept WHERE part = ? AND key = ?", (part, key))
            return
        checksum = _row_checksum(part, key, value)
        self.rows += checksum
        self._run("INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?)", (part, key, value, checksum))


def _is_locked(error: Exception) -> bool:
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF == sqlite3.SQLITE_BUSY


def _is_disk_full(error: Exception) -> bool:
    return (
        getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
        or getattr(error, "errno", None) == errno.ENOSPC
    )


def _row_checksum(part: str, key: str, value: str) -> int:
    return zlib.crc32(f"{part}\0{key}\0{value}".encode())


def _pack_journal_row(log_number: int, offset: int, is_clean: int, payload: bytes) -> JournalRow:
    return log_number << OFFSET_BITS | offset, is_clean, payload


def other_processes_with_file(path: Path) -> list[str]:
    """Return processes that have this file open, such as `4711 (sqlite3)`.

    Return those whose open files this user can see; none on systems without /proc.
    """
    target = str(path.resolve())
    return [
        f"{process.name} ({_command_name(process)})"
        for process in sorted(Path("/proc").glob("[0-9]*"))
        if process.name != str(os.getpid()) and target in _open_files(process)
    ]


def _open_files(process: Path) -> set[str]:
    found = set[str]()
    try:
        for descriptor in (process / "fd").iterdir():
            found.add(str(descriptor.readlink()))
    except OSError:  # another user's process, or one that has just ended
        pass
    return found


def _command_name(process: Path) -> str:
    try:
        return (process / "comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return "ended"
