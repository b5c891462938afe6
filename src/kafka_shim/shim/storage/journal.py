"""The journal: a file of new batches, to which appending costs a tenth of a commit.

The file is emptied after its batches are committed. Each entry has the number of its round. After a
kill, the entries of the database's next round are committed.
"""

import errno
import os
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from struct import Struct

FILE = "kafka-shim.journal"
_ENTRY = Struct(">QQ?II")
"""Round, the id of the batch, whether it was cleaned, its size and its checksum; then come its
bytes. A process that is killed leaves the beginning of what it was to write.
"""

Row = tuple[int, int, bytes]
"""Id of a batch, whether it was cleaned, and its bytes."""


class Journal:
    """The journal of a process. Raises OSError if it cannot be written."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
        self._file = os.open(self._path, flags, 0o600)
        self.round = 0
        self.rows: list[Row] = []
        """What was appended in this round."""
        self.size = 0
        """The bytes of that."""

    def append(self, rows: Sequence[Row]) -> None:
        """Append batches."""
        number, pack, crc32 = self.round, _ENTRY.pack, zlib.crc32
        parts: list[bytes] = []
        for batch_id, is_clean, payload in rows:
            parts.append(pack(number, batch_id, is_clean, len(payload), crc32(payload)))
            parts.append(payload)
        content = b"".join(parts)
        if os.write(self._file, content) < len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._path))
        self.rows += rows
        self.size += len(content)

    def begin(self, number: int) -> None:
        """Begin another round, after all batches were committed."""
        if self.size:
            os.ftruncate(self._file, 0)
        self.round = number
        self.rows = []
        self.size = 0

    def read(self) -> Iterator[tuple[int, Row]]:
        """Yield each batch with its round, up to the first incomplete entry."""
        content = self._path.read_bytes()
        self.size = len(content)
        at = 0
        while at + _ENTRY.size <= len(content):
            number, batch_id, is_clean, size, checksum = _ENTRY.unpack_from(content, at)
            at += _ENTRY.size
            payload = content[at : at + size]
            at += size
            if len(payload) < size or zlib.crc32(payload) != checksum:
                return
            yield number, (batch_id, is_clean, payload)

    def close(self) -> None:
        """Close the file, and delete it if it is empty."""
        os.close(self._file)
        if not self.size:
            self._path.unlink(missing_ok=True)
