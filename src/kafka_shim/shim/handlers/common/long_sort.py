"""Sorting of the names of a large request, in steps that let other requests run meanwhile."""

import heapq
from collections.abc import Iterable

PORTION_NAMES = 4096


def sort_in_portions(names: Iterable[str]) -> list[str]:
    """Sort names piece by piece."""
    unsorted = list(names)
    if len(unsorted) <= PORTION_NAMES:
        return sorted(unsorted)
    pieces = [
        sorted(unsorted[at : at + PORTION_NAMES]) for at in range(0, len(unsorted), PORTION_NAMES)
    ]
    return list(heapq.merge(*pieces))
