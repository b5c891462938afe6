"""Finds the stored prefixes of a name without trying every length."""

from collections.abc import Iterator, ValuesView
from typing import Generic, TypeVar

T = TypeVar("T")

_FIRST_HEAD = 4
_NO_LENGTHS: tuple[int, ...] = ()


class PrefixIndex(Generic[T]):
    """Maps prefixes to values; asked with a name, gives the values of all its prefixes.

    Lookup is by hash. To know which lengths are worth a lookup, lengths are split into bands
    0-3, 4-7, 8-15, 16-31 ... and the band that begins at length n is looked up under the first n
    characters of the name (its head). A head lists the lengths stored under it, and its absence
    says that nothing longer can match. With `team-7.` and `team-7.orders-` stored:

        name `team-7.orders-eu`: head `` -> (), `team` -> (7,), `team-7.o` -> (14,), then absent
        name `billing`:          head `` -> (), `bill` absent: two lookups, whatever is stored

    So the cost grows with what is stored along one name, not with how much is stored elsewhere.
    Heads are hints: removing a prefix leaves them until half of them are stale, then they are
    made anew.
    """

    __slots__ = ("_heads", "_removed", "_values")

    def __init__(self) -> None:
        self._values: dict[str, T] = {}
        self._heads: dict[str, tuple[int, ...]] = {}
        self._removed = 0

    def __len__(self) -> int:
        return len(self._values)

    def get(self, prefix: str) -> T | None:
        return self._values.get(prefix)

    def values(self) -> ValuesView[T]:
        return self._values.values()

    def put(self, prefix: str, value: T) -> None:
        if prefix not in self._values:
            self._note(prefix)
        self._values[prefix] = value

    def remove(self, prefix: str) -> None:
        del self._values[prefix]
        self._removed += 1
        if self._removed > 1000 and self._removed > len(self._values):
            self._heads.clear()
            self._removed = 0
            for left in self._values:
                self._note(left)

    def matching(self, name: str) -> list[T]:
        """Values of the prefixes of `name`, itself included, the longest first."""
        found: list[T] = []
        heads, values, size = self._heads, self._values, len(name)
        start = 0
        while start <= size:
            lengths = heads.get(name[:start])
            if lengths is None:
                break
            for length in lengths:
                if length > size:
                    break
                value = values.get(name[:length])
                if value is not None:
                    found.append(value)
            start = start * 2 or _FIRST_HEAD
        found.reverse()
        return found

    def _note(self, prefix: str) -> None:
        """Record under every head of the prefix that it exists, and its length in its own band."""
        heads, size = self._heads, len(prefix)
        for start, end in _bands(size):
            head = prefix[:start]
            lengths = heads.get(head, _NO_LENGTHS)
            if size < end and size not in lengths:
                lengths = tuple(sorted((*lengths, size)))
            heads[head] = lengths


def _bands(size: int) -> Iterator[tuple[int, int]]:
    """Give the bands (first length, one past the last) up to the one that holds `size`."""
    start, end = 0, _FIRST_HEAD
    while start <= size:
        yield start, end
        start, end = end, end * 2
