"""A counter of changes that a request could see."""

from collections.abc import Iterator
from contextlib import contextmanager


class StateVersion:
    """Counts everything that may change a cluster, whether or not it does: each request that is not
    read-only, each call of the control API except GET, each closed connection, each stopped broker.
    Timers are counted by the clock.
    """

    __slots__ = ("number", "under_way")

    def __init__(self) -> None:
        self.number = 0
        self.under_way = 0
        """Number of changes in progress, during which other requests may be answered."""

    def count_possible_change(self) -> None:
        """Count a possible change."""
        self.number += 1

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Mark a change as in progress while the context is open."""
        self.under_way += 1
        try:
            yield
        finally:
            self.under_way -= 1
            self.number += 1
