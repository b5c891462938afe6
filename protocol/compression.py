"""Compress and decompress record batches: gzip always, the others when their package is there."""

import zlib
from collections.abc import Callable
from enum import IntEnum
from importlib import import_module
from struct import Struct
from typing import Any, NamedTuple

from protocol.errors import DecodeError, ProtocolError

DECOMPRESSED_BYTES_MAX = 256 << 20
"""What a batch may become at most, so that a small request cannot fill the memory."""

_GZIP_WINDOW = 31  # the largest window, with a gzip header
_XERIAL_MAGIC = b"\x82SNAPPY\0"
_XERIAL_HEADER = _XERIAL_MAGIC + Struct(">ii").pack(1, 1)
_XERIAL_BLOCK_BYTES = 32 << 10
_SIZE = Struct(">i")


class Compression(IntEnum):
    """The codes in the attributes of a batch."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


class MissingPackageError(ProtocolError):
    """A compression whose package is not installed was asked for."""


class _Package(NamedTuple):
    """The package that a compression needs, as its module and as pip knows it."""

    module: str
    name: str


_PACKAGES = {
    Compression.SNAPPY: _Package("snappy", "python-snappy"),
    Compression.LZ4: _Package("lz4.frame", "lz4"),
    Compression.ZSTD: _Package("zstandard", "zstandard"),
}


def is_available(compression: Compression) -> bool:
    """Return whether this compression can be read and written here."""
    try:
        _module(compression)
    except MissingPackageError:
        return False
    return True


def compress(compression: Compression, data: bytes) -> bytes:
    """Return `data` compressed; MissingPackageError if the package is not there."""
    if compression == Compression.NONE:
        return data
    module = _module(compression)
    if compression == Compression.GZIP:
        squeezer = zlib.compressobj(wbits=_GZIP_WINDOW)
        return squeezer.compress(data) + squeezer.flush()
    if compression == Compression.SNAPPY:
        return _compress_xerial(module.compress, data)
    if compression == Compression.LZ4:  # Java's reader refuses blocks that depend on each other
        return bytes(module.compress(data, block_linked=False, store_size=False))
    return bytes(module.ZstdCompressor().compress(data))


def decompress(
    compression: Compression, data: bytes, bytes_max: int = DECOMPRESSED_BYTES_MAX
) -> bytes:
    """Return what `data` was before.

    Raises DecodeError when it is damaged or would be more than `bytes_max`, MissingPackageError if
    the package is not there.
    """
    if compression == Compression.NONE:
        return data
    module = _module(compression)
    try:
        if compression == Compression.GZIP:
            found = _gunzip(data, bytes_max)
        elif compression == Compression.SNAPPY:
            found = _decompress_snappy(module.decompress, data, bytes_max)
        elif compression == Compression.LZ4:
            found = bytes(module.LZ4FrameDecompressor().decompress(data, max_length=bytes_max + 1))
        else:
            found = _unzstd(module, data, bytes_max)
    except DecodeError:
        raise
    except _faults(compression, module) as fault:
        name = compression.name.lower()
        raise DecodeError(f"records are not valid {name}: {fault}") from fault
    if len(found) > bytes_max:
        raise _too_big(bytes_max)
    return found


def _module(compression: Compression) -> Any:
    if compression not in _PACKAGES:
        return zlib
    package = _PACKAGES[compression]
    try:
        return import_module(package.module)
    except ImportError as missing:
        what = compression.name.lower()
        message = f"{what} needs a package: pip install {package.name}"
        raise MissingPackageError(message) from missing


def _faults(compression: Compression, module: Any) -> tuple[type[Exception], ...]:
    """Return what the package raises on damaged data."""
    if compression == Compression.ZSTD:
        return (module.ZstdError, ValueError, MemoryError)
    if compression == Compression.SNAPPY:
        return (getattr(module, "UncompressError", ValueError), ValueError, RuntimeError)
    return (zlib.error, RuntimeError, EOFError, ValueError)


def _gunzip(data: bytes, bytes_max: int) -> bytes:
    """Decompress all members of a gzip stream, as Java's reader does."""
    parts = []
    left = bytes_max + 1
    while data and left > 0:
        opener = zlib.decompressobj(wbits=_GZIP_WINDOW)
        parts.append(opener.decompress(data, left))
        left -= len(parts[-1])
        if not opener.eof and left > 0:
            raise DecodeError("records are not valid gzip: they end early")
        data = opener.unused_data
    return b"".join(parts)


def _unzstd(module: Any, data: bytes, bytes_max: int) -> bytes:
    opener = module.ZstdDecompressor().stream_reader(data, read_across_frames=True)
    return bytes(opener.read(bytes_max + 1))


def _compress_xerial(squeeze: Callable[[bytes], bytes], data: bytes) -> bytes:
    """Write snappy in the blocks that Java's clients write and expect."""
    parts = [_XERIAL_HEADER]
    for at in range(0, len(data), _XERIAL_BLOCK_BYTES):
        block = bytes(squeeze(data[at : at + _XERIAL_BLOCK_BYTES]))
        parts += (_SIZE.pack(len(block)), block)
    return b"".join(parts)


def _decompress_snappy(open_up: Callable[[bytes], bytes], data: bytes, bytes_max: int) -> bytes:
    """Read snappy in blocks, or as one block as librdkafka writes it."""
    if not data.startswith(_XERIAL_MAGIC):
        _see_snappy_size(data, bytes_max)
        return bytes(open_up(data))
    parts, pos, size_now = [], len(_XERIAL_HEADER), 0
    while pos < len(data):
        if pos + 4 > len(data):
            raise DecodeError("records are not valid snappy: a block has no size")
        (size,) = _SIZE.unpack_from(data, pos)
        block = data[pos + 4 : pos + 4 + size]
        if size < 0 or len(block) < size:
            raise DecodeError(f"records are not valid snappy: a block claims {size} bytes")
        _see_snappy_size(block, bytes_max, size_now)
        parts.append(bytes(open_up(block)))
        size_now += len(parts[-1])
        pos += 4 + size
    return b"".join(parts)


def _see_snappy_size(block: bytes, bytes_max: int, size_now: int = 0) -> None:
    """Refuse a block that says it becomes too big; its first bytes are that size as a varint."""
    size = 0
    for index, byte in enumerate(block[:5]):
        size |= (byte & 127) << 7 * index
        if byte < 128:
            break
    if size_now + size > bytes_max:
        raise _too_big(bytes_max)


def _too_big(bytes_max: int) -> DecodeError:
    return DecodeError(f"records are over {bytes_max} bytes when decompressed")
