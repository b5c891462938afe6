"""The order in which Java's PriorityQueue gives equal entries: some answers of brokers have it."""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

Entry = TypeVar("Entry")


class PriorityQueue(Generic[Entry]):
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
