"""Asks again after a connection was lost, as clients do: a broker of the target may have ended.

Its partitions and groups then have other leaders and coordinators, or the same ones later.
"""

import time
from collections.abc import Callable

from kafka_shim.traces.replay.asking_again import RETRY_S, ErrorRetries
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


class Attempts:
    """The attempts to get one request answered."""

    def __init__(
        self,
        retries: ErrorRetries,
        connector: TargetConnector,
        connection: ReplayConnection,
        refresh: Callable[[], None],
    ) -> None:
        """`refresh` asks the target for its brokers, leaders and coordinators."""
        self._retries = retries
        self._connector = connector
        self._connection = connection
        self._refresh = refresh
        self._deadline = 0.0
        self._closed = 0

    def wait(self, error: ConnectionLostError) -> None:
        """Wait for the next attempt after this error.

        Raise the error if there is none: the request is to blame, or the target does not come back.
        """
        limits = self._retries.limits
        self._deadline = self._deadline or time.monotonic() + limits.timeout_s
        is_over = time.monotonic() > self._deadline
        if isinstance(error, ConnectionClosedError):
            self._closed += 1
            is_over |= self._connection.is_rejected or self._closed >= _CLOSED_MAX
            self._connection.is_rejected |= is_over
        elif isinstance(error, UnreachableError):
            given_up = self._connector.given_up
            if is_over:
                given_up.add(error.address)
            is_over |= error.address in given_up or not self._connector.has_connected
        else:
            is_over = True
        if is_over:
            raise error
        self._retries.counts[LOST] += 1
        limits.settles_until = time.monotonic() + limits.timeout_s
        time.sleep(RETRY_S)
        self._refresh()

    def end(self) -> None:
        """Note that the target has answered."""
        self._connection.is_rejected = False
