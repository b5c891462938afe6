"""Reads and writes segments, files of blocks; the name has the writer and a number:
`broker-1-00000003.ktrace`.
"""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from io import FileIO
from mmap import ACCESS_READ, PAGESIZE, mmap
from pathlib import Path

import msgspec

from kafka_shim.trace_format.blocks import (
    HEADER_BYTES,
    MAGIC,
    BlockError,
    BlockHeader,
    NewerFormatError,
    decode_entry_block_body,
    decode_index,
    encode_block,
    encode_index,
    has_newer_version,
    read_block_header,
    split_into_blocks,
)
from kafka_shim.trace_format.entries import BlockBody

if sys.platform != "win32":
    from mmap import MADV_DONTNEED

SUFFIX = ".ktrace"
SEGMENT_BYTES = 64 * 1024 * 1024
RELEASED_BYTES = 16 * 1024 * 1024
"""How much of a segment is read before its memory is released."""
_NAME = re.compile(r"(?P<writer>.+)-(?P<number>\d{8})\.ktrace")


class Damage(msgspec.Struct, frozen=True):
    """An unreadable part: its beginning, length and reason.

    `is_tail`: the end of a writer's newest segment, where a block may still be written.
    """

    path: str
    position: int
    length: int
    reason: str
    is_tail: bool = False


class Block(msgspec.Struct, frozen=True):
    """A readable block and its position."""

    path: str
    position: int
    header: BlockHeader
    body: BlockBody


def segment_paths(file_or_directory: Path) -> list[Path]:
    """Return the segments of a trace, by writer and number; a single file is a trace, too."""
    if file_or_directory.is_file():
        return [file_or_directory]
    return sorted(
        path for path in file_or_directory.glob(f"*{SUFFIX}") if _NAME.fullmatch(path.name)
    )


def contains_block(path: Path) -> bool:
    """Return whether a block begins anywhere in a non-empty file."""
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        return _find_next_header(data, 0) < len(data)


def find_newer_segment(file_or_directory: Path) -> Path | None:
    """Return a segment in a format that this release cannot read; None if there is none."""
    for path in segment_paths(file_or_directory):
        with path.open("rb") as file:
            head = file.read(HEADER_BYTES)
        try:
            read_block_header(head)
        except NewerFormatError:
            return path
        except BlockError:  # a newer header may have another checksum
            if has_newer_version(head) and not contains_block(path):
                return path
    return None


def first_time_us(path: Path) -> int:
    """Return the time of a segment's first entry; 0 if its first block is damaged."""
    with path.open("rb") as file:
        try:
            return read_block_header(file.read(HEADER_BYTES)).first_us
        except BlockError:
            return 0


def has_no_next_segment(path: Path) -> bool:
    """Return whether the same writer has no later segment."""
    match = _NAME.fullmatch(path.name)
    if match is None:
        return True
    return not (path.parent / segment_name(match["writer"], int(match["number"]) + 1)).exists()


def is_closed_segment(path: Path) -> bool:
    """Return whether a segment ends with its index, which its writer adds when it closes it."""
    ends_with_index = False

    def on_header(header: BlockHeader) -> bool:
        nonlocal ends_with_index
        ends_with_index = header.is_index
        return False  # the content is not needed

    for _ in read_segment(path, selects_block=on_header):
        ends_with_index = False  # damage
    return ends_with_index


def find_missing_segments(paths: Iterable[Path]) -> list[Path]:
    """Return the segments that are missing between others of the same writer."""
    return [
        folder / segment_name(writer, number)
        for (folder, writer), found in _numbers_by_writer(paths).items()
        for number in sorted({*range(min(found), max(found))} - found)
    ]


def count_segments_before_first(paths: Iterable[Path]) -> int:
    """Return how many segments of all writers are before their first ones: deleted, or lost."""
    return sum(min(found) for found in _numbers_by_writer(paths).values())


def _numbers_by_writer(paths: Iterable[Path]) -> dict[tuple[Path, str], set[int]]:
    numbers: dict[tuple[Path, str], set[int]] = {}
    for path in paths:
        if match := _NAME.fullmatch(path.name):
            key = (path.parent, match["writer"])
            numbers.setdefault(key, set()).add(int(match["number"]))
    return numbers


def segment_name(writer: str, number: int) -> str:
    return f"{writer}-{number:08d}{SUFFIX}"


def read_segment(
    path: Path,
    start: int = 0,
    end: int | None = None,
    selects_block: Callable[[BlockHeader], bool] | None = None,
    released_bytes: int = RELEASED_BYTES,
) -> Iterator[Block | Damage]:
    """Yield readable blocks and damage, in order, of the blocks that begin in [start, end).

    With `selects_block`, the bodies of other blocks are neither read nor checked.

    After damage, reading continues at the next intact header. Other parts are not read, since an
    imported segment may be larger than memory. Memory is released after `released_bytes`, if many
    segments are read at the same time.
    """
    if path.stat().st_size == 0:  # an empty file cannot be mapped
        return
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        stop = len(data) if end is None else min(end, len(data))
        at = start if start == 0 else _find_next_header(data, start)
        yield from _read_blocks(path, data, at, stop, selects_block, released_bytes)


def _read_blocks(
    path: Path,
    data: mmap,
    position: int,
    stop: int,
    selects_block: Callable[[BlockHeader], bool] | None,
    released_bytes: int,
) -> Iterator[Block | Damage]:
    released = position - position % PAGESIZE
    while position < stop:
        try:
            header = read_block_header(data, position)
            if selects_block is not None and not selects_block(header):
                position += header.block_bytes
                continue
            end = position + header.block_bytes
            body = slice(position + HEADER_BYTES, end)
            if header.is_index:
                decode_index(header, data[body])
            else:  # its bytes are released before a reader of many segments goes on to another
                content = decode_entry_block_body(header, data[body])
                if end - released >= released_bytes:
                    released = _drop_mapped_pages(data, released, end)
                yield Block(str(path), position, header, content)
            position = end
        except BlockError as error:
            following = _find_next_header(data, position + 1)
            is_newer = isinstance(error, NewerFormatError)
            is_tail = following == len(data) and has_no_next_segment(path) and not is_newer
            yield Damage(str(path), position, following - position, str(error), is_tail)
            position = following


def _drop_mapped_pages(data: mmap, start: int, end: int) -> int:
    """Release the whole pages from `start` to `end`, and return where they end.

    Otherwise they count as memory of the process until the file is closed.
    """
    end -= end % PAGESIZE
    if sys.platform != "win32":
        data.madvise(MADV_DONTNEED, start, end - start)
    return end


def _find_next_header(data: mmap, at: int) -> int:
    """Return the position of the next intact header, or the end of the data."""
    while (at := data.find(MAGIC, at)) >= 0:
        try:
            read_block_header(data, at)
        except BlockError:
            at += 1
        else:
            return at
    return len(data)


def trace_size_in_bytes(file_or_directory: Path) -> int:
    """Return the size of a trace in bytes."""
    return sum(path.stat().st_size for path in segment_paths(file_or_directory))


def read_trace(
    file_or_directory: Path, progress: Callable[[int], None] = lambda _: None
) -> Iterator[Block | Damage]:
    """Yield a whole trace, segment by segment; `progress` gets the number of bytes read."""
    behind = 0
    for path in segment_paths(file_or_directory):
        for block in read_segment(path):
            yield block
            progress(behind + block.position)
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
        segments_max: int | None = None,
        compression: str = "none",
    ) -> None:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._directory = directory
        self._writer = writer
        self._segment_bytes = segment_bytes
        self._keep_segments = segments_max
        self._compression = compression
        self.first_number = self._number = self._first_unused_number()
        """Number of the first segment of this process; 0 for a new writer."""
        self._blocks: list[tuple[int, BlockHeader]] = []
        self._position = 0
        self._file = self._open_next_segment()

    @property
    def current_segment_path(self) -> Path:
        """The segment that is being written."""
        return self._directory / segment_name(self._writer, self._number)

    def write_block(self, body: BlockBody) -> int:
        """Append a body as one block, or several ones if it is large; return their size in bytes.

        OSError if the disk is full; then nothing of the block is written.
        """
        return sum(map(self._write_block, split_into_blocks(body)))

    def _write_block(self, body: BlockBody) -> int:
        block = encode_block(body, self._compression)
        self._append_atomically(block)
        self._blocks.append((self._position, read_block_header(block)))
        self._position += len(block)
        if len(self._blocks) == 1:
            self._delete_oldest_excess_segment()
        if self._position >= self._segment_bytes:
            self._write_index()
            self._number += 1
            self._file = self._open_next_segment()
        return len(block)

    def close(self) -> None:
        """Finish the segment with its index; delete it if it is empty."""
        if self._file.closed:
            return
        if self._blocks:
            self._write_index()
        else:
            self._file.close()
            self.current_segment_path.unlink()

    def _open_next_segment(self) -> FileIO:
        self._blocks = []
        self._position = 0
        return FileIO(self.current_segment_path, "xb", opener=_open_for_owner_only)

    def _append_atomically(self, data: bytes) -> None:
        """Write all or nothing: on a full disk, the written part is removed again."""
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError:
            with suppress(OSError):
                self._file.seek(self._position)
                self._file.truncate()
            raise

    def _write_index(self) -> None:
        try:
            self._append_atomically(encode_index(self._blocks))
        finally:
            self._file.close()

    def _first_unused_number(self) -> int:
        taken = [
            int(match["number"])
            for path in self._directory.glob(f"*{SUFFIX}")
            if (match := _NAME.fullmatch(path.name)) and match["writer"] == self._writer
        ]
        return max(taken, default=-1) + 1

    def _delete_oldest_excess_segment(self) -> None:
        """Delete the oldest segments beyond the number to keep."""
        if self._keep_segments is None:
            return
        oldest = self._number - self._keep_segments
        if oldest >= 0:
            (self._directory / segment_name(self._writer, oldest)).unlink(missing_ok=True)
