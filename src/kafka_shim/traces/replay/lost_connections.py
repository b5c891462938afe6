"""Asks again after a connection was lost, as clients do: a broker of the target may have ended.

Its partitions and groups then have other leaders and coordinators, or the same ones later.
"""

import time
from collections import Counter
from collections.abc import Callable

from kafka_shim.traces.replay.asking_again import RETRY_S
from kafka_shim.traces.replay.replay_connection import ReplayConnection
from kafka_shim.traces.replay.target_connection import (
    ConnectionClosedError,
    ConnectionLostError,
    TargetConnector,
    UnreachableError,
)

_CLOSED_MAX = 3
"""How often a broker may close a connection over one request."""
LOST = "connections were lost"


class LostConnections:
    """Counts lost connections, and knows whether the target still answers anything."""

    def __init__(self, connector: TargetConnector, timeout_s: float, counts: Counter[str]) -> None:
        self.connector = connector
        self.timeout_s = timeout_s
        self.counts = counts
        self.is_target_lost = False
        """Whether nothing was reachable for as long as a request may take."""


class Attempts:
    """The attempts to get one request answered."""

    def __init__(
        self, lost: LostConnections, connection: ReplayConnection, refresh: Callable[[], None]
    ) -> None:
        """`refresh` asks the target for its brokers, leaders and coordinators."""
        self._lost = lost
        self._connection = connection
        self._refresh = refresh
        self._deadline = 0.0
        self._closed = 0

    def wait(self, error: ConnectionLostError) -> None:
        """Wait for the next attempt after this error.

        Raise the error if there is none: the request is to blame, or the target does not come back.
        """
        lost = self._lost
        if not self._deadline:
            self._deadline = time.monotonic() + lost.timeout_s
        if isinstance(error, ConnectionClosedError):
            self._closed += 1
            is_over = self._connection.is_rejected or self._closed >= _CLOSED_MAX
            self._connection.is_rejected |= is_over
        else:
            is_over = not isinstance(error, UnreachableError) or not lost.connector.has_connected
        is_late = time.monotonic() > self._deadline
        if is_late and isinstance(error, UnreachableError):
            lost.is_target_lost = True
        if is_over or is_late or lost.is_target_lost:
            raise error
        lost.counts[LOST] += 1
        time.sleep(RETRY_S)
        self._refresh()

    def end(self) -> None:
        """Note that the target has answered."""
        self._connection.is_rejected = self._lost.is_target_lost = False
