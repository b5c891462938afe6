"""What was acknowledged last, in the file `lock`: the number of the commit and the journal's size.

SQLite drops the end of a damaged write-ahead log without an error, and a file that lost its end
looks like one that was never longer. This mark shows that something is missing.
"""

import mmap
import zlib
from pathlib import Path
from struct import Struct
from typing import NamedTuple

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
