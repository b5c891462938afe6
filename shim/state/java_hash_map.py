"""The order in which Java goes through a HashMap: some answers of brokers have it."""

import struct
from collections.abc import Collection, Iterable, Iterator
from typing import Generic, TypeVar

Key = TypeVar("Key")
_BITS = 0xFFFF_FFFF
_GOLDEN_RATIO = 0x9E37_79B9_7F4A_7C15


class HashOrder(Generic[Key]):
    """Keys that are added once each, with their hash codes. `size` is what was asked to fit."""

    def __init__(self, size: int = 16) -> None:
        self._buckets: list[list[tuple[Key, int]]] = [
            [] for _ in range(1 << max(0, size - 1).bit_length())
        ]
        self._count = 0

    def __iter__(self) -> Iterator[Key]:
        return (key for bucket in self._buckets for key, _ in bucket)

    def put(self, key: Key, hash_code: int) -> None:
        """Add a key as `put` does: behind others of its bucket."""
        bucket, spread = self._bucket(hash_code)
        bucket.append((key, spread))
        self._count += 1
        if self._is_full():
            self._grow()

    def compute(self, key: Key, hash_code: int) -> None:
        """Add a key as `computeIfAbsent` does: before others, and growing one key later."""
        if self._is_full():
            self._grow()
        bucket, spread = self._bucket(hash_code)
        bucket.insert(0, (key, spread))
        self._count += 1

    def _bucket(self, hash_code: int) -> tuple[list[tuple[Key, int]], int]:
        spread = (hash_code & _BITS) ^ (hash_code & _BITS) >> 16
        return self._buckets[spread & len(self._buckets) - 1], spread

    def _is_full(self) -> bool:
        return self._count * 4 > len(self._buckets) * 3

    def _grow(self) -> None:
        rows = [row for bucket in self._buckets for row in bucket]
        self._buckets = [[] for _ in range(2 * len(self._buckets))]
        for key, spread in rows:
            self._buckets[spread & len(self._buckets) - 1].append((key, spread))


def ordered(names: Iterable[str], size: int = 16) -> list[str]:
    """Return texts in the order of a HashMap that they were put into one after the other."""
    order = HashOrder[str](size)
    for name in dict.fromkeys(names):
        order.put(name, java_hash(name))
    return list(order)


def timeline_ordered(names: Iterable[str]) -> list[str]:
    """Return texts in the order of Kafka's TimelineHashMap that they were put into."""
    known = list(dict.fromkeys(names))
    bits = 1
    while len(known) * 3 > (4 << bits):
        bits += 1
    slots: list[list[str]] = [[] for _ in range(1 << bits)]
    for name in known:
        scattered = java_hash(name) * _GOLDEN_RATIO & (1 << 64) - 1
        slots[scattered >> 64 - bits].insert(0, name)
    return [name for slot in slots for name in slot]


def partitions_ordered(topic: str, partitions: Collection[int]) -> list[int]:
    """Return partitions of a topic in the order of a ConcurrentHashMap that has them as keys."""
    slots = 16
    while len(partitions) * 4 >= slots * 3:
        slots *= 2
    of_topic = java_hash(topic)

    def slot(partition: int) -> int:
        code = 31 * (31 + partition) + of_topic & _BITS
        return (code ^ code >> 16) & slots - 1

    return sorted(partitions, key=slot)


def java_hash(text: str) -> int:
    """`String.hashCode` of Java, signed 32 bits: over UTF-16 code units."""
    units = text.encode("utf-16-be", "surrogatepass")
    code = 0
    for unit in struct.unpack(f">{len(units) // 2}H", units):
        code = code * 31 + unit & _BITS
    return code - (1 << 32) if code >= 1 << 31 else code
