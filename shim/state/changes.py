"""Whether anything may have changed that a request can see: a number that grows."""

from collections.abc import Iterator
from contextlib import contextmanager


class Changes:
    """Grows by whatever may change a cluster, whether or not it does: each request that does more
    than look, each call of the control API that is no GET, each connection that ends, a broker
    that stops. Timers are counted by the clock.
    """

    __slots__ = ("number", "under_way")

    def __init__(self) -> None:
        self.number = 0
        self.under_way = 0
        """How many changes have begun and not ended, while other requests are answered."""

    def note(self) -> None:
        """Something may have changed."""
        self.number += 1

    @contextmanager
    def noted(self) -> Iterator[None]:
        """What runs within may change something at any time."""
        self.under_way += 1
        try:
            yield
        finally:
            self.under_way -= 1
            self.number += 1
