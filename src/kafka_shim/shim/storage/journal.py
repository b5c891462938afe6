"""The journal: a file of new batches, to which appending costs a tenth of a commit.

The file is emptied after its batches are committed. Each entry has the number of the commit that it
follows. After a kill, the entries that follow the database's last commit are committed.

The file `lock` has what was acknowledged last: the number of the commit and the journal's size.
SQLite drops the end of a damaged write-ahead log without an error, and a file that lost its end
looks like one that was never longer. This mark shows that something is missing.
"""

import errno
import mmap
import os
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from struct import Struct
from typing import NamedTuple

FILE = "kafka-shim.journal"
_ENTRY = Struct(">QQ?II")
"""Number of a commit, the id of the batch, whether it was cleaned, its size and its checksum; then
come its bytes. A killed process leaves the beginning of an entry at the end.
"""

Row = tuple[int, int, bytes]
"""Id of a batch, whether it was cleaned, and its bytes."""


def batch_checksum(batch_id: int, is_clean: int, payload: bytes) -> int:
    """Return the CRC-32 of a batch, with its id and its flag."""
    return zlib.crc32(payload, ((batch_id ^ batch_id >> 32) & 0xFFFF_FFFF) ^ is_clean)


class BatchJournal:
    """The journal of a process. Raises OSError if it cannot be written."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
        self._file = os.open(self._path, flags, 0o600)
        self.commit_number = 0
        """The number of the last commit."""
        self.rows: list[Row] = []
        """The batches that were appended after it."""
        self.size = 0
        """The bytes of their entries."""

    def append_batches(self, rows: Sequence[Row]) -> None:
        """Append batches."""
        number, pack = self.commit_number, _ENTRY.pack
        parts: list[bytes] = []
        for batch_id, is_clean, payload in rows:
            parts.append(
                pack(
                    number,
                    batch_id,
                    is_clean,
                    len(payload),
                    batch_checksum(batch_id, is_clean, payload),
                )
            )
            parts.append(payload)
        content = b"".join(parts)
        if os.write(self._file, content) < len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._path))
        self.rows += rows
        self.size += len(content)

    def clear(self, number: int) -> None:
        """Empty the file, after the commit of this number, which has all batches."""
        if self.size:
            os.ftruncate(self._file, 0)
        self.commit_number = number
        self.rows = []
        self.size = 0

    def read_intact_batches(self) -> Iterator[tuple[int, Row]]:
        """Yield each batch with the number of its commit, up to the first damaged entry."""
        content = self._path.read_bytes()
        at = 0
        while at + _ENTRY.size <= len(content):
            number, batch_id, is_clean, size, checksum = _ENTRY.unpack_from(content, at)
            at += _ENTRY.size
            payload = content[at : at + size]
            at += size
            if len(payload) < size or batch_checksum(batch_id, is_clean, payload) != checksum:
                return
            yield number, (batch_id, is_clean, payload)

    def read_entries_after_commit(self, commit_number: int) -> None:
        """Take over the whole entries that follow a commit, from the journal of another process."""
        self.commit_number = commit_number
        self.rows = [row for number, row in self.read_intact_batches() if number == commit_number]
        self.size = sum(_ENTRY.size + len(payload) for _, _, payload in self.rows)

    def drop_stale_entries(self) -> None:
        """Empty the file if it has nothing but entries of earlier commits, or incomplete ones."""
        if not self.size:
            os.ftruncate(self._file, 0)

    def close(self) -> None:
        """Close the file, and delete it if it is empty."""
        is_empty = not os.fstat(self._file).st_size
        os.close(self._file)
        if is_empty:
            self._path.unlink(missing_ok=True)


_SLOT = Struct(">QQI")
_SLOTS = 2
"""The two slots are written in turn, so that a killed process leaves one of them whole."""
_BYTES = _SLOTS * _SLOT.size


class CommitMarkValue(NamedTuple):
    """The number of a commit, and the bytes that the journal has after it."""

    commit_number: int
    journal_bytes: int


class MappedCommitMark:
    """The mark of an open data directory, in a file that is created if it is missing.

    The file is mapped into memory, since a mark is written for each acknowledged batch; it survives
    a killed process. Raise OSError if the disk has no room for it.
    """

    def __init__(self, path: Path) -> None:
        with path.open("r+b" if path.exists() else "w+b", buffering=0) as file:
            content = file.read(_BYTES)
            file.write(bytes(_BYTES - len(content)))
            self._memory = mmap.mmap(file.fileno(), _BYTES)
        self.last = max(_valid_marks(content), default=None)
        """The last mark of the process before this one; None if the file has none."""
        self._slot = 0

    def write_mark(self, commit_number: int, journal_bytes: int) -> None:
        """Write the mark."""
        checksum = zlib.crc32(b"%d %d" % (commit_number, journal_bytes))
        _SLOT.pack_into(
            self._memory, self._slot * _SLOT.size, commit_number, journal_bytes, checksum
        )
        self._slot = 1 - self._slot

    def close_map(self) -> None:
        """Release the memory; the file keeps the mark."""
        self._memory.close()


def _valid_marks(content: bytes) -> list[CommitMarkValue]:
    whole = content[: len(content) // _SLOT.size * _SLOT.size]
    return [
        CommitMarkValue(number, size)
        for number, size, checksum in _SLOT.iter_unpack(whole)
        if checksum == zlib.crc32(b"%d %d" % (number, size)) and (number or size)
    ]
