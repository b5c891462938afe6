"""Offloaded work that is interrupted at one of its reads of topics, settings or the clock."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from tests.shim.play import Stage

Item = TypeVar("Item")


class InterruptedRead:
    """Time slices of a cluster: while work is offloaded, its read number `at` is preceded by
    `meanwhile`, which is what the event loop's thread could do at that moment.

    Reads are counted over all work of a request, and those within the state's own methods count.
    """

    def __init__(self, stage: Stage, at: int, meanwhile: Callable[[], object]) -> None:
        self._at = at
        self._meanwhile = meanwhile
        self._is_offloaded = False
        self.reads = 0
        cluster = stage.cluster
        for store in (cluster.topics, cluster.groups.settings, stage.clock):
            _watch(store, self._count)

    @property
    def was_interrupted(self) -> bool:
        return self.reads >= self._at

    def offload(self, work: Callable[..., Item], *arguments: Any) -> Item:
        self._is_offloaded = True
        try:
            return work(*arguments)
        finally:
            self._is_offloaded = False

    def time_sliced(self, items: Iterable[Item]) -> Iterator[Item]:
        yield from items

    def _count(self) -> None:
        if self._is_offloaded:
            self.reads += 1
            if self.reads == self._at:
                self._is_offloaded = False
                self._meanwhile()
                self._is_offloaded = True


def _watch(store: Any, before_read: Callable[[], None]) -> None:
    """Call `before_read` before each read of an attribute of the object."""
    plain: type[Any] = type(store)

    def read(instance: Any, name: str) -> Any:
        before_read()
        return object.__getattribute__(instance, name)

    store.__class__ = type(plain.__name__, (plain,), {"__slots__": (), "__getattribute__": read})
