"""Reads and writes segments, files of blocks; the name has the writer and a number:
`broker-1-00000003.ktrace`.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import FileIO
from mmap import ACCESS_READ, mmap
from pathlib import Path

import msgspec

from kafka_shim.protocol.trace.blocks import (
    HEADER_BYTES,
    MAGIC,
    BlockError,
    BlockHeader,
    read_body,
    read_header,
    read_index,
    write_block,
    write_index,
)
from kafka_shim.protocol.trace.entries import Body

SUFFIX = ".ktrace"
SEGMENT_BYTES = 64 * 1024 * 1024
_NAME = re.compile(r"(?P<writer>.+)-(?P<number>\d{8})\.ktrace")


class Damage(msgspec.Struct, frozen=True):
    """An unreadable part: its beginning, length and reason.

    `is_tail`: the end of a writer's newest segment, where a block may still be written.
    """

    path: str
    at: int
    length: int
    reason: str
    is_tail: bool = False


class Block(msgspec.Struct, frozen=True):
    """A readable block and its position."""

    path: str
    at: int
    header: BlockHeader
    body: Body


def segments(directory: Path) -> list[Path]:
    """Return the segments of a trace, by writer and number; a single file is a trace, too."""
    if directory.is_file():
        return [directory]
    return sorted(path for path in directory.glob(f"*{SUFFIX}") if _NAME.fullmatch(path.name))


def has_block(path: Path) -> bool:
    """Return whether a block begins anywhere in a non-empty file."""
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        return _next_header(data, 0) < len(data)


def is_newest_of_writer(path: Path) -> bool:
    """Return whether the same writer has no later segment."""
    match = _NAME.fullmatch(path.name)
    if match is None:
        return True
    return not (path.parent / segment_name(match["writer"], int(match["number"]) + 1)).exists()


def segment_name(writer: str, number: int) -> str:
    return f"{writer}-{number:08d}{SUFFIX}"


def read_segment(
    path: Path,
    start: int = 0,
    end: int | None = None,
    wants: Callable[[BlockHeader], bool] | None = None,
) -> Iterator[Block | Damage]:
    """Yield readable blocks and damage, in order, of the blocks that begin in [start, end).

    With `wants`, the bodies of other blocks are neither read nor checked.

    After damage, reading continues at the next intact header. Other parts are not read, since an
    imported segment may be larger than memory.
    """
    if path.stat().st_size == 0:  # an empty file cannot be mapped
        return
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        stop = len(data) if end is None else min(end, len(data))
        at = start if start == 0 else _next_header(data, start)
        yield from _read_mapped(path, data, at, stop, wants)


def _read_mapped(
    path: Path, data: mmap, at: int, stop: int, wants: Callable[[BlockHeader], bool] | None
) -> Iterator[Block | Damage]:
    while at < stop:
        try:
            header = read_header(data, at)
            if wants is not None and not wants(header):
                at += header.block_bytes
                continue
            content = data[at + HEADER_BYTES : at + header.block_bytes]
            if header.is_index:
                read_index(header, content)
            else:
                yield Block(str(path), at, header, read_body(header, content))
            at += header.block_bytes
        except BlockError as error:
            following = _next_header(data, at + 1)
            is_tail = following == len(data) and is_newest_of_writer(path)
            yield Damage(str(path), at, following - at, str(error), is_tail)
            at = following


def _next_header(data: mmap, at: int) -> int:
    """Return the position of the next intact header, or the end of the data."""
    while (at := data.find(MAGIC, at)) >= 0:
        try:
            read_header(data, at)
        except BlockError:
            at += 1
        else:
            return at
    return len(data)


def trace_bytes(directory: Path) -> int:
    """Return the size of a trace in bytes."""
    return sum(path.stat().st_size for path in segments(directory))


def read_trace(
    directory: Path, progress: Callable[[int], None] = lambda _: None
) -> Iterator[Block | Damage]:
    """Yield a whole trace, segment by segment; `progress` gets the number of bytes read."""
    behind = 0
    for path in segments(directory):
        for block in read_segment(path):
            yield block
            progress(behind + block.at)
        behind += path.stat().st_size


class TraceStorage(msgspec.Struct, frozen=True):
    """How a trace is stored: `compression` is one of COMPRESSIONS; a segment is full at about
    `segment_bytes`; the oldest ones beyond `segments` are deleted (None: never).
    """

    compression: str = "none"
    segments: int | None = None
    segment_bytes: int = SEGMENT_BYTES


def _open_for_owner_only(path: str, flags: int) -> int:
    """Open a file that only its owner may read, since traces contain what clients sent."""
    return os.open(path, flags, 0o600)


class SegmentWriter:
    """Appends blocks to a writer's segments, and begins new ones; not thread-safe.

    Each block is passed to the operating system in one write: a killed process loses at most the
    block that it was writing.
    """

    def __init__(
        self,
        directory: Path,
        writer: str,
        *,
        segment_bytes: int = SEGMENT_BYTES,
        keep_segments: int | None = None,
        compression: str = "none",
    ) -> None:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._directory = directory
        self._writer = writer
        self._segment_bytes = segment_bytes
        self._keep_segments = keep_segments
        self._compression = compression
        self.first_number = self._number = self._first_unused_number()
        """Number of the first segment of this process; 0 for a new writer."""
        self._blocks: list[tuple[int, BlockHeader]] = []
        self._at = 0
        self._file = self._open()

    @property
    def path(self) -> Path:
        """The segment that is being written."""
        return self._directory / segment_name(self._writer, self._number)

    def write(self, body: Body) -> int:
        """Append a block; return its size in bytes. OSError if the disk is full; then nothing is
        written.
        """
        block = write_block(body, self._compression)
        self._append(block)
        self._blocks.append((self._at, read_header(block)))
        self._at += len(block)
        if len(self._blocks) == 1:
            self._delete_oldest_segments()
        if self._at >= self._segment_bytes:
            self._write_index_and_close()
            self._number += 1
            self._file = self._open()
        return len(block)

    def close(self) -> None:
        """Finish the segment with its index; delete it if it is empty."""
        if self._file.closed:
            return
        if self._blocks:
            self._write_index_and_close()
        else:
            self._file.close()
            self.path.unlink()

    def _open(self) -> FileIO:
        self._blocks = []
        self._at = 0
        return FileIO(self.path, "xb", opener=_open_for_owner_only)

    def _append(self, data: bytes) -> None:
        """Write all or nothing: on a full disk, the written part is removed again."""
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError:
            with suppress(OSError):
                self._file.seek(self._at)
                self._file.truncate()
            raise

    def _write_index_and_close(self) -> None:
        try:
            self._append(write_index(self._blocks))
        finally:
            self._file.close()

    def _first_unused_number(self) -> int:
        taken = [
            int(match["number"])
            for path in self._directory.glob(f"*{SUFFIX}")
            if (match := _NAME.fullmatch(path.name)) and match["writer"] == self._writer
        ]
        return max(taken, default=-1) + 1

    def _delete_oldest_segments(self) -> None:
        """Delete the oldest segments beyond the number to keep."""
        if self._keep_segments is None:
            return
        oldest = self._number - self._keep_segments
        if oldest >= 0:
            (self._directory / segment_name(self._writer, oldest)).unlink(missing_ok=True)
