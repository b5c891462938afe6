"""Compresses and decompresses record batches: gzip always, others if their package is installed."""

import zlib
from collections.abc import Callable, Iterator
from enum import IntEnum
from importlib import import_module
from struct import Struct
from typing import Any, NamedTuple

from kafka_shim.protocol.errors import DecodeError, ProtocolError
from kafka_shim.text.extras import requires

DECOMPRESSED_BYTES_MAX = 64 << 20
"""Maximum decompressed size of a batch, so that a small request cannot fill the memory."""
_CHUNK_BYTES = 1 << 20
_FED_BYTES = 8 << 10
_ZSTD_FED_BYTES = 256  # zstd has no limit of its own; these bytes become at most 8 MiB
_GZIP_MAGIC = b"\x1f\x8b"

_GZIP_WINDOW = 31  # the largest window, with a gzip header
_XERIAL_MAGIC = b"\x82SNAPPY\0"
_XERIAL_HEADER = _XERIAL_MAGIC + Struct(">ii").pack(1, 1)
_XERIAL_BLOCK_BYTES = 32 << 10
_SNAPPY_RATIO_MAX = 64
"""Largest ratio of decompressed to compressed size."""
_SIZE = Struct(">i")


class Compression(IntEnum):
    """Codes of compressions in the attributes of a batch."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


class MissingPackageError(ProtocolError):
    """The package of a compression is not installed."""


_MODULES = {
    Compression.SNAPPY: "snappy",
    Compression.LZ4: "lz4.frame",
    Compression.ZSTD: "zstandard",
}


def is_compression_available(compression: Compression) -> bool:
    """Return whether the package of this compression is installed."""
    try:
        _import_codec(compression)
    except MissingPackageError:
        return False
    return True


def compress(compression: Compression, data: bytes) -> bytes:
    """Return `data` compressed. Raise MissingPackageError if the package is not installed."""
    if compression == Compression.NONE:
        return data
    module = _import_codec(compression)
    if compression == Compression.GZIP:
        compressor = zlib.compressobj(wbits=_GZIP_WINDOW)
        return compressor.compress(data) + compressor.flush()
    if compression == Compression.SNAPPY:
        return _compress_xerial(module.compress, data)
    if compression == Compression.LZ4:  # Java's reader refuses blocks that depend on each other
        return bytes(module.compress(data, block_linked=False, store_size=False))
    return bytes(module.ZstdCompressor().compress(data))


def decompress(
    compression: Compression, data: bytes, bytes_max: int = DECOMPRESSED_BYTES_MAX
) -> bytes:
    """Return the decompressed data.

    Raise DecodeError if it is damaged or larger than `bytes_max`, and MissingPackageError if the
    package is not installed.
    """
    partial = decompress_intact_part(compression, data, bytes_max)
    if partial.damage is not None:
        raise DecodeError(partial.damage)
    return partial.content


class DecompressedPart(NamedTuple):
    """The decompressed content, and the error that ended it; None if it is complete."""

    content: bytes
    damage: str | None


class DecompressedTooBigError(DecodeError):
    """The decompressed content is too large."""


def decompress_intact_part(
    compression: Compression, data: bytes, bytes_max: int = DECOMPRESSED_BYTES_MAX
) -> DecompressedPart:
    """Decompress up to the first damage, chunk by chunk: memory stays near `bytes_max`.

    Raise DecompressedTooBigError above `bytes_max`, and MissingPackageError if the package is not
    installed.
    """
    if compression == Compression.NONE:
        return DecompressedPart(data, None)
    module = _import_codec(compression)
    name = compression.name.lower()
    chunks: list[bytes] = []
    size = 0
    damage = None
    try:
        for chunk in _DECOMPRESSORS[compression](module, data, bytes_max):
            size += len(chunk)
            if size > bytes_max:
                raise _too_big_error(bytes_max)
            chunks.append(chunk)
    except DecompressedTooBigError:
        raise
    except DecodeError as error:
        damage = str(error)
    except _exceptions_for_damaged_data(compression, module) as error:
        damage = f"records are not valid {name}: {error}"
    return DecompressedPart(b"".join(chunks), damage)


def _import_codec(compression: Compression) -> Any:
    if compression not in _MODULES:
        return zlib
    try:
        return import_module(_MODULES[compression])
    except ImportError as missing:
        name = compression.name.lower()
        raise MissingPackageError(requires(f"{name} compression", "compression")) from missing


def _exceptions_for_damaged_data(
    compression: Compression, module: Any
) -> tuple[type[Exception], ...]:
    """Return the exceptions that the package raises for damaged data."""
    if compression == Compression.ZSTD:
        return (module.ZstdError, ValueError, MemoryError)
    if compression == Compression.SNAPPY:
        return (getattr(module, "UncompressError", ValueError), ValueError, RuntimeError)
    return (zlib.error, RuntimeError, EOFError, ValueError)


def _decompress_gzip_members_in_chunks(
    _module: Any, data: bytes, _bytes_max: int
) -> Iterator[bytes]:
    """Decompress all members of a gzip stream; bytes after the last are ignored, as in Java."""
    pos = 0
    while pos == 0 or data[pos : pos + 2] == _GZIP_MAGIC:
        decompressor = zlib.decompressobj(wbits=_GZIP_WINDOW)
        while not decompressor.eof:
            fed = data[pos : pos + _FED_BYTES]
            if not fed:
                raise DecodeError("records are not valid gzip: they end early")
            pos += len(fed)
            while fed:
                yield decompressor.decompress(fed, _CHUNK_BYTES)
                fed = decompressor.unconsumed_tail
        pos -= len(decompressor.unused_data)


def _decompress_first_lz4_frame_in_chunks(
    module: Any, data: bytes, _bytes_max: int
) -> Iterator[bytes]:
    """Decompress one frame; Java's reader stops after the first, too."""
    decompressor = module.LZ4FrameDecompressor()
    for pos in range(0, len(data), _FED_BYTES):
        fed = data[pos : pos + _FED_BYTES]
        yield decompressor.decompress(fed, max_length=_CHUNK_BYTES)
        while not decompressor.eof and not decompressor.needs_input:
            yield decompressor.decompress(b"", max_length=_CHUNK_BYTES)
        if decompressor.eof:
            return
    raise DecodeError("records are not valid lz4: they end early")


def _decompress_zstd_frames_in_chunks(module: Any, data: bytes, _bytes_max: int) -> Iterator[bytes]:
    """Decompress all frames, a few bytes at a time, since these can become many."""
    zstd = module.ZstdDecompressor()
    pos = 0
    while pos < len(data):
        decompressor = zstd.decompressobj()
        while not decompressor.eof:
            fed = data[pos : pos + _ZSTD_FED_BYTES]
            if not fed:
                raise DecodeError("records are not valid zstd: they end early")
            pos += len(fed)
            yield decompressor.decompress(fed)
        pos -= len(decompressor.unused_data)


def _compress_xerial(compress_block: Callable[[bytes], bytes], data: bytes) -> bytes:
    """Compress with snappy in blocks, as Java's clients write and expect."""
    parts = [_XERIAL_HEADER]
    for at in range(0, len(data), _XERIAL_BLOCK_BYTES):
        block = bytes(compress_block(data[at : at + _XERIAL_BLOCK_BYTES]))
        parts += (_SIZE.pack(len(block)), block)
    return b"".join(parts)


def _snappy_chunks(module: Any, data: bytes, bytes_max: int) -> Iterator[bytes]:
    """Decompress snappy in blocks, or in one block as librdkafka writes it."""
    if not data.startswith(_XERIAL_MAGIC):
        _check_snappy_size(data, bytes_max)
        yield bytes(module.decompress(data))
        return
    pos, size_now = 0, 0
    while pos < len(data):
        if data.startswith(_XERIAL_MAGIC, pos):
            pos += len(_XERIAL_HEADER)
            continue
        if pos + 4 > len(data):
            raise DecodeError("records are not valid snappy: a block has no size")
        (size,) = _SIZE.unpack_from(data, pos)
        block = data[pos + 4 : pos + 4 + size]
        if size < 0 or len(block) < size:
            raise DecodeError(f"records are not valid snappy: a block claims {size} bytes")
        _check_snappy_size(block, bytes_max, size_now)
        chunk = bytes(module.decompress(block))
        size_now += len(chunk)
        yield chunk
        pos += 4 + size


def _check_snappy_size(block: bytes, bytes_max: int, bytes_before: int = 0) -> None:
    """Raise DecompressedTooBigError if the size at the start of a block, a varint, is too large."""
    size = 0
    for index, byte in enumerate(block[:5]):
        size |= (byte & 127) << 7 * index
        if byte < 128:
            break
    if size > len(block) * _SNAPPY_RATIO_MAX:
        raise DecodeError(f"records are not valid snappy: a block claims to become {size} bytes")
    if bytes_before + size > bytes_max:
        raise _too_big_error(bytes_max)


def _too_big_error(bytes_max: int) -> DecompressedTooBigError:
    return DecompressedTooBigError(f"records are over {bytes_max} bytes when decompressed")


_DECOMPRESSORS: dict[Compression, Callable[[Any, bytes, int], Iterator[bytes]]] = {
    Compression.GZIP: _decompress_gzip_members_in_chunks,
    Compression.SNAPPY: _snappy_chunks,
    Compression.LZ4: _decompress_first_lz4_frame_in_chunks,
    Compression.ZSTD: _decompress_zstd_frames_in_chunks,
}
