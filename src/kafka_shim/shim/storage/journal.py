"""The journal: a file of new batches, to which appending costs a tenth of a commit.

The file is emptied after its batches are committed. Each entry has the number of the commit that it
follows. After a kill, the entries that follow the database's last commit are committed.
"""

import errno
import os
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from struct import Struct

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
