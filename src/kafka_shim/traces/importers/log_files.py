"""Open logs for reading: files, folders, standard input; compressed, or in archives."""

import bz2
import gzip
import io
import lzma
import sys
import tarfile
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import tzinfo
from functools import partial
from itertools import islice
from pathlib import Path
from tarfile import ReadError, TarFile
from types import ModuleType
from typing import IO, TYPE_CHECKING, Self, cast

import msgspec

from kafka_shim.shim.errors import ConfigError
from kafka_shim.text.extras import requires
from kafka_shim.traces.importers.log_time import LogTimeError, time_before_message

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

STANDARD_INPUT = "-"
LINE_CHARACTERS_MAX = 16 * 1024 * 1024
"""A longer line has no end, as in a damaged or foreign file."""
_HEAD_BYTES = 512
_TAR = slice(257, 262)
_LINES_BEFORE_A_TIME = 50
_ZSTD_BYTES = 1 << 14
_DAMAGED_MEMBER = (
    *(tarfile.EmptyHeaderError, tarfile.InvalidHeaderError),  # type: ignore[attr-defined]
    tarfile.TruncatedHeaderError,  # type: ignore[attr-defined]
)
_DAMAGED = (EOFError, OSError, lzma.LZMAError, tarfile.TarError, zlib.error)


class LogSource(msgspec.Struct):
    """A log: its name, its lines, and a function that returns how many bytes were read."""

    name: str
    lines: Iterator[str]
    position: Callable[[], int]


def find_log_files(paths: Sequence[Path], zone: tzinfo | None = None) -> list[Path]:
    """Return the files of the paths, of folders all; the log with the earliest time is first.

    Raise ConfigError if a path does not exist or a folder has no files.
    """
    files: list[Path] = []
    for path in paths:
        if str(path) == STANDARD_INPUT or path.is_file():
            files.append(path)
            continue
        if not path.exists():
            raise FileNotFoundError(2, "No such file or directory", str(path))
        archived_file = [name for name in sorted(path.rglob("*")) if name.is_file()]
        if path.is_dir() and not archived_file:
            raise ConfigError(f"`{path}` contains no files")
        files += archived_file or [path]  # a pipe
    if len(files) > 1:
        files.sort(key=lambda file: _first_time_us(file, zone))
    return files


def logs_in_file(
    path: Path, skipped: list[str], *, is_named_by_user: bool
) -> Generator[LogSource, None, None]:
    """Yield the logs in a file: itself, or those in an archive.

    A file that is no text is added to `skipped`. Raise ConfigError if it `is_named_by_user`,
    or if the file is damaged.
    """
    with _translate_damage(str(path)):
        if str(path) != STANDARD_INPUT:
            with path.open("rb") as file:
                yield from _logs_in_stream(
                    str(path), file, file.tell, skipped, is_named_by_user=is_named_by_user
                )
        elif hasattr(sys.stdin, "buffer"):
            yield from _logs_in_stream(
                STANDARD_INPUT,
                sys.stdin.buffer,
                lambda: 0,
                skipped,
                is_named_by_user=is_named_by_user,
            )
        else:
            yield LogSource(STANDARD_INPUT, iter(sys.stdin), lambda: 0)


def _logs_in_stream(
    name: str,
    file: IO[bytes],
    position: Callable[[], int],
    skipped: list[str],
    *,
    is_named_by_user: bool,
) -> Iterator[LogSource]:
    stream = file if isinstance(file, io.BufferedReader) else _buffered_reader(file)
    head = stream.peek(_HEAD_BYTES)[:_HEAD_BYTES]
    while (unpacked := _decompressed_or_none(stream, head)) is not None:
        stream = unpacked
        head = stream.peek(_HEAD_BYTES)[:_HEAD_BYTES]
    if head[_TAR] == b"ustar":
        with tarfile.open(fileobj=stream, mode="r|", tarinfo=_ArchiveMember) as archive:
            for member in archive:
                archived_file = archive.extractfile(member) if member.isfile() else None
                if archived_file is not None:
                    yield from _logs_in_stream(
                        f"{name}:{member.name}",
                        _buffered_reader(_ArchivedFile(archived_file)),
                        position,
                        skipped,
                        is_named_by_user=False,
                    )
        return
    encoding = "utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    if b"\0" in head and encoding != "utf-16":
        if is_named_by_user:
            raise ConfigError(f"`{name}` is no text; expected a log, plain or compressed")
        skipped.append(name)
        return
    text = io.TextIOWrapper(stream, encoding=encoding, errors="replace", newline="\n")
    lines = _intact_lines(name, text)
    try:
        yield LogSource(name, lines, position)
    finally:
        lines.close()
        text.detach()  # else the text closes the file or the archive


def _intact_lines(name: str, text: io.TextIOWrapper) -> Generator[str, None, None]:
    """Yield the lines. Raise ConfigError where the compressed log is damaged or cut off, or if a
    line is too long.
    """
    with _translate_damage(name):
        read_line = partial(text.readline, LINE_CHARACTERS_MAX + 1)
        for number, line in enumerate(iter(read_line, ""), start=1):
            if len(line) > LINE_CHARACTERS_MAX:
                raise ConfigError(
                    f"`{name}`: line {number} has more than {LINE_CHARACTERS_MAX >> 20} MiB;"
                    " expected a log, with a line for each entry"
                )
            yield line


@contextmanager
def _translate_damage(name: str) -> Iterator[None]:
    try:
        yield
    except _DAMAGED as error:
        if isinstance(error, OSError) and error.errno is not None:  # not from a decompressor
            raise
        raise ConfigError(f"`{name}` is damaged: {error}") from error


def _decompressed_or_none(stream: io.BufferedReader, head: bytes) -> io.BufferedReader | None:
    """Return the content of a compressed stream; None if it is not compressed."""
    if head.startswith(b"\x1f\x8b"):
        return _buffered_reader(gzip.GzipFile(fileobj=stream))
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        try:
            import zstandard  # noqa: PLC0415 - from an extra
        except ImportError as error:
            raise ConfigError(requires("reading zstd", "compression")) from error
        return _buffered_reader(_ZstdFile(stream, zstandard))
    if head.startswith(b"BZh"):
        return _buffered_reader(bz2.BZ2File(stream))
    if head.startswith(b"\xfd7zXZ\0"):
        return _buffered_reader(lzma.LZMAFile(stream))
    return None


class _ArchiveMember(tarfile.TarInfo):
    """A member of an archive. By itself, tarfile takes a missing or damaged one for the end."""

    @classmethod
    def fromtarfile(cls, tarfile: TarFile) -> Self:
        try:
            return super().fromtarfile(tarfile)
        except _DAMAGED_MEMBER as error:
            raise ReadError(f"a member is cut off or damaged: {error}") from error


class _ArchivedFile(io.RawIOBase):
    """A file in an archive read as a stream; until Python 3.12, tarfile's lacks `seekable`."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer)
        data = self._file.read(len(view))
        view[: len(data)] = data
        return len(data)


class _ZstdFile(io.RawIOBase):
    """Decompressed zstd frames. The reader of zstandard takes a frame that is cut off as whole."""

    def __init__(self, file: IO[bytes], zstandard: ModuleType) -> None:
        self._file = file
        self._zstandard = zstandard
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._content = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer)
        while not self._content:
            data = self._frame.unused_data if self._frame.eof else b""
            data = data or self._file.read(_ZSTD_BYTES)
            if not data:
                if self._frame.eof:
                    return 0
                raise EOFError("a zstd frame is cut off")
            if self._frame.eof:
                self._frame = self._zstandard.ZstdDecompressor().decompressobj()
            try:
                self._content = self._frame.decompress(data)
            except self._zstandard.ZstdError as error:
                raise EOFError(str(error)) from error
        data, self._content = self._content[: len(view)], self._content[len(view) :]
        view[: len(data)] = data
        return len(data)


def _buffered_reader(file: object) -> io.BufferedReader:
    return io.BufferedReader(cast("io.RawIOBase", file), 1 << 16)


def _first_time_us(path: Path, zone: tzinfo | None) -> int:
    """Return the first time in a log; 0 if it has none."""
    if str(path) == STANDARD_INPUT:
        return 0
    with closing(logs_in_file(path, [], is_named_by_user=False)) as sources:
        for source in sources:
            for line in islice(source.lines, _LINES_BEFORE_A_TIME):
                try:
                    time = time_before_message(line, zone)
                except LogTimeError:
                    continue
                if time is not None:
                    return time.us
    return 0
