"""Reads and writes blocks, which are checked as a whole and do not depend on each other.

Header, 44 bytes, big endian: magic, version, flags, body length, entry count, first and last time
(microseconds), CRC32C of the body, CRC32C of the header up to here.
"""

import zlib
from collections.abc import Iterator
from mmap import mmap
from struct import Struct
from typing import NamedTuple

import msgspec
from crc32c import crc32c

from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.records.compression import (
    Compression,
    MissingPackageError,
    compress,
    decompress,
)
from kafka_shim.trace_format.entries import BlockBody, Entry, Request, Response

MAGIC = b"KSHMTRC\n"
VERSION = 1
DEFLATED = 1
"""Flag: the body is compressed with zlib."""
INDEX = 2
"""Flag: the body is the segment's index, its last block."""
ZSTD = 4
"""Flag: the body is compressed with zstd."""
COMPRESSIONS = ("none", "zlib", "zstd")
BLOCK_BYTES = 1 << 20
"""What a block has at most, unless one entry is larger: damage of a few bytes costs a block."""
BODY_BYTES_MAX = 1 << 30

_HEAD = Struct(">8sHHIIqqI")
_CRC = Struct(">I")
HEADER_BYTES = _HEAD.size + _CRC.size


class IndexedBlock(NamedTuple):
    """What a segment's index has about one of its blocks."""

    position: int
    entry_count: int
    first_us: int
    last_us: int


_decode_body = msgspec.msgpack.Decoder(BlockBody).decode
_decode_index = msgspec.msgpack.Decoder(list[IndexedBlock]).decode
_encode = msgspec.msgpack.Encoder().encode


class BlockHeader(msgspec.Struct, frozen=True, gc=False):
    """The header of a block."""

    flags: int
    body_bytes: int
    entry_count: int
    first_us: int
    last_us: int
    body_crc: int

    @property
    def block_bytes(self) -> int:
        return HEADER_BYTES + self.body_bytes

    @property
    def is_index(self) -> bool:
        return bool(self.flags & INDEX)


class BlockError(Exception):
    """The bytes are not a block, or a damaged one; the text has the reason."""


class NewerFormatError(BlockError):
    """The block was written by a newer release, in a format that this one cannot read."""


def split_into_blocks(body: BlockBody) -> Iterator[BlockBody]:
    """Yield the body as bodies of about BLOCK_BYTES, so that damage costs no more than that.

    An entry that is larger is a block of its own.
    """
    entries: list[Entry] = []
    size = 0
    for entry in body.entries:
        entry_bytes = len(entry.frame) if isinstance(entry, Request | Response) else 0
        if entries and size + entry_bytes > BLOCK_BYTES:
            yield _body_with_entries(body, entries)
            entries, size = [], 0
        entries.append(entry)
        size += entry_bytes
    yield body if len(entries) == len(body.entries) else _body_with_entries(body, entries)


def _body_with_entries(body: BlockBody, entries: list[Entry]) -> BlockBody:
    numbers = {entry.connection for entry in entries}
    connections = [row for row in body.connections if row.number in numbers]
    return BlockBody(connections, entries, body.masks)


def encode_block(body: BlockBody, compression: str = "none") -> bytes:
    """Return a block, with at least one entry.

    `compression` is one of COMPRESSIONS. Raise MissingPackageError if zstd's package is not
    installed.
    """
    assert body.entries
    raw, flags = _encode(body), 0
    if compression == "zlib":
        raw, flags = zlib.compress(raw, 1), DEFLATED
    elif compression == "zstd":
        raw, flags = compress(Compression.ZSTD, raw), ZSTD
    times = [entry.time_us for entry in body.entries]
    return _encode_block_with_checksums(
        raw,
        flags,
        len(body.entries),
        min(times),
        max(times),
    )


def encode_index(blocks: list[tuple[int, BlockHeader]]) -> bytes:
    """Return the index of a finished segment: position, entries and times of each block."""
    rows = [
        IndexedBlock(position, header.entry_count, header.first_us, header.last_us)
        for position, header in blocks
    ]
    first = min((row.first_us for row in rows), default=0)
    return _encode_block_with_checksums(
        _encode(rows), INDEX, 0, first, max((row.last_us for row in rows), default=0)
    )


def _encode_block_with_checksums(
    body: bytes, flags: int, entries: int, first_us: int, last_us: int
) -> bytes:
    head = _HEAD.pack(MAGIC, VERSION, flags, len(body), entries, first_us, last_us, crc32c(body))
    return b"".join((head, _CRC.pack(crc32c(head)), body))


def read_block_header(buf: bytes | mmap, at: int = 0) -> BlockHeader:
    """Return the header at this position. Raise BlockError if it is missing or damaged."""
    if len(buf) - at < HEADER_BYTES:
        raise BlockError("the block's header is cut off")
    magic, version, flags, body_bytes, entries, first_us, last_us, crc = _HEAD.unpack_from(buf, at)
    if magic != MAGIC:
        raise BlockError("no block begins here")
    if _CRC.unpack_from(buf, at + _HEAD.size)[0] != crc32c(buf[at : at + _HEAD.size]):
        raise BlockError("the block's header is damaged")
    if version != VERSION:
        raise NewerFormatError(
            f"format {version}, written by a newer kafka-shim; this one reads format {VERSION}"
        )
    if body_bytes > BODY_BYTES_MAX:
        raise BlockError(f"the block claims {body_bytes} bytes")
    return BlockHeader(flags, body_bytes, entries, first_us, last_us, crc)


def has_newer_version(head: bytes) -> bool:
    """Return whether bytes begin as a block of a newer format, whatever follows."""
    version = head[len(MAGIC) : len(MAGIC) + 2]
    return head.startswith(MAGIC) and int.from_bytes(version, "big") > VERSION


def decode_entry_block_body(header: BlockHeader, body: bytes) -> BlockBody:
    """Return the checked content of a block. Raise BlockError if it is truncated or damaged."""
    raw = _check_body(header, body)
    try:
        if header.flags & DEFLATED:
            raw = _decompress_zlib(raw)
        elif header.flags & ZSTD:
            raw = decompress(Compression.ZSTD, raw, BODY_BYTES_MAX)
        content = _decode_body(raw)
    except MissingPackageError as error:
        raise BlockError(f"the block cannot be read here: {error}") from error
    except (zlib.error, DecodeError, msgspec.MsgspecError) as error:
        raise BlockError(f"the block's body is invalid: {error}") from error
    if len(content.entries) != header.entry_count:
        raise BlockError(
            f"the block has {len(content.entries)} entries and not {header.entry_count}"
        )
    return content


def decode_index(header: BlockHeader, body: bytes) -> list[IndexedBlock]:
    """Return the blocks of a finished segment. Raise BlockError if the index is damaged."""
    try:
        return _decode_index(_check_body(header, body))
    except msgspec.MsgspecError as error:
        raise BlockError(f"the index is damaged: {error}") from error


def _check_body(header: BlockHeader, body: bytes) -> bytes:
    if len(body) != header.body_bytes:
        raise BlockError("the block's body is cut off")
    if crc32c(body) != header.body_crc:
        raise BlockError("the block's body is damaged")
    return body


def _decompress_zlib(body: bytes) -> bytes:
    """Decompress up to the maximum size of a block, whatever the bytes claim."""
    stream = zlib.decompressobj()
    raw = stream.decompress(body, BODY_BYTES_MAX)
    if not stream.eof:
        raise BlockError("the block's body is larger than a block may be")
    return raw
