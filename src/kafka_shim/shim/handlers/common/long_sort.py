"""Sorting of the names of a large request, in steps that let other requests run meanwhile."""

import heapq
from collections.abc import Iterable

PIECE = 4096


def in_order(names: Iterable[str]) -> list[str]:
    """Sort names piece by piece."""
    unsorted = list(names)
    if len(unsorted) <= PIECE:
        return sorted(unsorted)
    pieces = [sorted(unsorted[at : at + PIECE]) for at in range(0, len(unsorted), PIECE)]
    return list(heapq.merge(*pieces))
