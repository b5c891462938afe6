"""Long bytes in chunks, which are written one after the other without being copied together."""

from collections.abc import Iterable, Iterator

LONG_BYTES = 64 * 1024
"""It is faster to join shorter ones."""


class ByteChunks:
    """Bytes that are joined only where they have to be; in a message, they stand for bytes."""

    __slots__ = ("_size", "chunks")

    def __init__(self, chunks: list[bytes | memoryview]) -> None:
        self.chunks = chunks
        self._size = sum(map(len, chunks))

    def __len__(self) -> int:
        """Return the number of bytes."""
        return self._size

    def __bytes__(self) -> bytes:
        return b"".join(self.chunks)


def flatten_byte_chunks(encoded: Iterable[bytes | ByteChunks]) -> Iterator[bytes | memoryview]:
    """Yield the bytes that a chunk writer returned, without nesting."""
    for chunk in encoded:
        if type(chunk) is ByteChunks:
            yield from chunk.chunks
        else:
            yield chunk  # type: ignore[misc]
