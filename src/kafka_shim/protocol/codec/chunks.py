"""Long bytes in pieces, which are written one after the other without being copied together."""

from collections.abc import Iterable, Iterator

LONG_BYTES = 64 * 1024
"""It is faster to join shorter ones."""


class Pieces:
    """Bytes that are joined only where they have to be; in a message, they stand for bytes."""

    __slots__ = ("_size", "parts")

    def __init__(self, parts: list[bytes | memoryview]) -> None:
        self.parts = parts
        self._size = sum(map(len, parts))

    def __len__(self) -> int:
        """Return the number of bytes."""
        return self._size

    def __bytes__(self) -> bytes:
        return b"".join(self.parts)


def flatten_pieces(written: Iterable[bytes | Pieces]) -> Iterator[bytes | memoryview]:
    """Yield what a piece writer returned, without nesting."""
    for each in written:
        if type(each) is Pieces:
            yield from each.parts
        else:
            yield each  # type: ignore[misc]
