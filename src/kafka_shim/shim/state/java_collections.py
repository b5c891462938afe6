"""Java's HashMap and PriorityQueue, whose iteration orders are visible in responses of brokers."""

import struct
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")
_BITS = 0xFFFF_FFFF
_SHORT = 64  # the bits beyond 32 of so many characters cost less than to drop each of them
_GOLDEN_RATIO = 0x9E37_79B9_7F4A_7C15


class JavaHashOrder(Generic[Key]):
    """Keys in Java's order, each added once with its hash code."""

    def __init__(self, initial_capacity: int = 16) -> None:
        capacity = table_capacity_for(initial_capacity)
        self._buckets: list[list[tuple[Key, int]]] = [[] for _ in range(capacity)]
        self._count = 0

    def __iter__(self) -> Iterator[Key]:
        return (key for bucket in self._buckets for key, _ in bucket)

    @property
    def capacity(self) -> int:
        """The number of buckets."""
        return len(self._buckets)

    def add_last_in_bucket(self, key: Key, hash_code: int) -> None:
        """Add a key as `put` does: behind others of its bucket."""
        bucket, spread = self._hash_position(hash_code)
        bucket.append((key, spread))
        self._count += 1
        if self._is_above_load_factor():
            self._double_table()

    def grow_then_add_first_in_bucket(self, key: Key, hash_code: int) -> None:
        """Add a key as `computeIfAbsent` does: before others, and growing one key later."""
        self.grow_before_lookup()
        bucket, spread = self._hash_position(hash_code)
        bucket.insert(0, (key, spread))
        self._count += 1

    def grow_before_lookup(self) -> None:
        """Grow like `computeIfAbsent` before its lookup."""
        if self._is_above_load_factor():
            self._double_table()

    def remove(self, key: Key, hash_code: int) -> None:
        """Remove an existing key."""
        bucket, spread = self._hash_position(hash_code)
        bucket.remove((key, spread))
        self._count -= 1

    def _hash_position(self, hash_code: int) -> tuple[list[tuple[Key, int]], int]:
        spread = (hash_code & _BITS) ^ (hash_code & _BITS) >> 16
        return self._buckets[spread & len(self._buckets) - 1], spread

    def _is_above_load_factor(self) -> bool:
        return self._count * 4 > len(self._buckets) * 3

    def _double_table(self) -> None:
        rows = [row for bucket in self._buckets for row in bucket]
        self._buckets = [[] for _ in range(2 * len(self._buckets))]
        for key, spread in rows:
            self._buckets[spread & len(self._buckets) - 1].append((key, spread))


def table_capacity_for(initial_capacity: int, count: int = 0) -> int:
    """Return the number of buckets of a map with this initial capacity, after so many keys."""
    capacity = 1 << max(0, initial_capacity - 1).bit_length()
    while count * 4 > capacity * 3:
        capacity *= 2
    return capacity


class JavaHashMap(Generic[Key, Value]):
    """Values by key, iterated in Java's order; `hash_code` returns a key's hash code, `size` is the
    initial capacity.
    """

    def __init__(self, hash_code: Callable[[Key], int], initial_capacity: int = 16) -> None:
        self._hash_code = hash_code
        self._order = JavaHashOrder[Key](initial_capacity)
        self._values: dict[Key, Value] = {}

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: Key) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[Key]:
        return iter(self._order)

    def __getitem__(self, key: Key) -> Value:
        return self._values[key]

    def items(self) -> Iterator[tuple[Key, Value]]:
        return ((key, self._values[key]) for key in self._order)

    def get(self, key: Key) -> Value | None:
        return self._values.get(key)

    def put(self, key: Key, value: Value) -> None:
        if key not in self._values:
            self._order.add_last_in_bucket(key, self._hash_code(key))
        self._values[key] = value

    def get_or_create(self, key: Key, make: Callable[[], Value]) -> Value:
        """Return the value of a key, created if missing, like `computeIfAbsent`."""
        if key in self._values:
            self._order.grow_before_lookup()
        else:
            self._values[key] = make()
            self._order.grow_then_add_first_in_bucket(key, self._hash_code(key))
        return self._values[key]

    def remove(self, key: Key) -> None:
        if key in self._values:
            del self._values[key]
            self._order.remove(key, self._hash_code(key))


class JavaHashSet(Generic[Key]):
    """Keys in the order of Java's HashSet: those of a HashMap."""

    def __init__(self, hash_code: Callable[[Key], int], initial_capacity: int = 16) -> None:
        self._keys = JavaHashMap[Key, None](hash_code, initial_capacity)

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: Key) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[Key]:
        return iter(self._keys)

    def add(self, key: Key) -> None:
        self._keys.put(key, None)

    def remove(self, key: Key) -> None:
        self._keys.remove(key)


def initial_capacity_for(count: int) -> int:
    """Return the initial capacity that Kafka uses for a number of keys."""
    return int((count + 1) / 0.75 + 1)


def copied_hash_set(keys: Collection[Key], hash_code: Callable[[Key], int]) -> JavaHashSet[Key]:
    """Return a HashSet of a collection."""
    found = JavaHashSet[Key](hash_code, max(int(len(keys) / 0.75) + 1, 16))
    for key in keys:
        found.add(key)
    return found


def integer_hash(number: int) -> int:
    """Return `Integer.hashCode` of a number, which is the number."""
    return number


def uuid_hash(topic_id: bytes) -> int:
    """Return the hash code of a Kafka Uuid."""
    first, second, third, fourth = struct.unpack(">4I", topic_id)
    code: int = first ^ second ^ third ^ fourth
    return code


def in_hash_map_order(names: Iterable[str], initial_capacity: int = 16) -> list[str]:
    """Return texts in the order of a HashMap that they were put into one after the other."""
    order = JavaHashOrder[str](initial_capacity)
    for name in dict.fromkeys(names):
        order.add_last_in_bucket(name, java_hash(name))
    return list(order)


def in_timeline_hash_map_order(names: Iterable[str]) -> list[str]:
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


def in_concurrent_hash_map_order(topic: str, partitions: Collection[int]) -> list[int]:
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
    code = 0
    if text.isascii() and len(text) <= _SHORT:
        for byte in text.encode():
            code = code * 31 + byte
        code &= _BITS
    else:
        units = text.encode("utf-16-be", "surrogatepass")
        for unit in struct.unpack(f">{len(units) // 2}H", units):
            code = code * 31 + unit & _BITS
    return code - (1 << 32) if code >= 1 << 31 else code


Entry = TypeVar("Entry")


class JavaPriorityQueue(Generic[Entry]):
    """A heap of entries, the least `key` first. Unlike heapq it sinks an entry only past less."""

    def __init__(self, entries: Iterable[Entry], key: Callable[[Entry], float]) -> None:
        self._heap: list[Entry] = []
        self._key = key
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        heap, key = self._heap, self._key(entry)
        at = len(heap)
        heap.append(entry)
        while at and key < self._key(heap[(at - 1) // 2]):
            heap[at] = heap[(at - 1) // 2]
            at = (at - 1) // 2
        heap[at] = entry

    def poll(self) -> Entry:
        """Remove and return the first entry."""
        heap = self._heap
        first, last = heap[0], heap.pop()
        if not heap:
            return first
        at, key = 0, self._key(last)
        while (child := 2 * at + 1) < len(heap):
            if child + 1 < len(heap) and self._key(heap[child]) > self._key(heap[child + 1]):
                child += 1
            if key <= self._key(heap[child]):
                break
            heap[at] = heap[child]
            at = child
        heap[at] = last
        return first
