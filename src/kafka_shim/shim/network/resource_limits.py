"""Limits of what peers can occupy: connections, handshakes, and the memory of large requests."""

from typing import Any, Protocol

import msgspec

from kafka_shim.shim.config import Limits
from kafka_shim.shim.network.protocols import ManagedConnection
from kafka_shim.shim.state.cluster import Cluster

_SETTINGS = {
    "socket.request.max.bytes": "frame_bytes_max",
    "sasl.server.max.receive.size": "unauthenticated_frame_bytes_max",
    "queued.max.request.bytes": "queued_bytes_max",
    "connections.max.idle.ms": "idle_ms_max",
}


def limits_with_broker_settings(cluster: Cluster) -> Limits:
    """Return the configuration's limits, with the values of given settings."""
    overrides: dict[str, Any] = {}
    for setting, field in _SETTINGS.items():
        value = cluster.configs.overridden_broker_value(setting)
        if value is not None and (int(value) > 0 or field == "idle_ms_max"):
            overrides[field] = int(value)
    return msgspec.structs.replace(cluster.config.limits, **overrides)


class PendingHandshakes:
    """TLS handshakes that are not done. If there are too many, the oldest is closed: an honest
    client's takes few milliseconds, so that it is done before a flood of others reaches it.
    """

    def __init__(self, pending_max: int) -> None:
        self._pending_max = pending_max
        self._pending: dict[ManagedConnection, None] = {}

    def __len__(self) -> int:
        return len(self._pending)

    def add(self, connection: ManagedConnection) -> None:
        self._pending[connection] = None
        if len(self._pending) > self._pending_max:
            oldest = next(iter(self._pending))
            del self._pending[oldest]
            oldest.close(f"more than {self._pending_max} TLS handshakes at the same time")

    def remove(self, connection: ManagedConnection) -> None:
        """Stop counting a handshake that is done or has failed."""
        self._pending.pop(connection, None)


SMALL_BYTES = 64 * 1024
"""Requests up to this size are always read: what a connection holds of them is bounded anyway."""


class RequestReader(Protocol):
    """A connection that reads requests."""

    def on_memory_available(self) -> None: ...


class RequestMemory:
    """Counts the memory of large requests from their first bytes until they have their responses.

    As with Kafka's queued.max.request.bytes, a request is read if any memory is left, so the limit
    can be exceeded by one request. Other readers wait in order.
    """

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._held: dict[
            RequestReader, tuple[int, int]
        ] = {}  # bytes and since when, the oldest first
        self._waiting: dict[RequestReader, int] = {}
        self.bytes = 0

    def reserve(self, reader: RequestReader, size: int, now_ms: int) -> bool:
        """Reserve memory; if there is none, return False and call the reader when there is."""
        if self.bytes >= self._bytes_max:
            self._waiting[reader] = size
            return False
        self._record_reservation(reader, size, now_ms)
        return True

    def release(self, reader: RequestReader, now_ms: int) -> None:
        """Release everything that a reader holds or waits for."""
        self._waiting.pop(reader, None)
        held = self._held.pop(reader, None)
        if held is None:
            return
        self.bytes -= held[0]
        while self._waiting and self.bytes < self._bytes_max:
            first = next(iter(self._waiting))
            self._record_reservation(first, self._waiting.pop(first), now_ms)
            first.on_memory_available()

    def oldest_blocking_reader(self, before_ms: int) -> RequestReader | None:
        """Return the oldest holder of memory since before that time, while others wait."""
        if not self._waiting:
            return None
        for reader, (_, since_ms) in self._held.items():
            return reader if since_ms < before_ms else None
        return None

    def _record_reservation(self, reader: RequestReader, size: int, now_ms: int) -> None:
        held, since_ms = self._held.get(reader, (0, now_ms))
        self._held[reader] = (held + size, since_ms)
        self.bytes += size


class ArrivingRequestMemory:
    """The large request of a connection: one at a time, from its first bytes to its response."""

    def __init__(self, memory: RequestMemory, reader: RequestReader) -> None:
        self._memory = memory
        self._reader = reader
        self.is_begun = False
        self._is_whole = False
        self.has_memory = True

    def reserve(self, size: int, now_ms: int) -> bool:
        """Reserve memory for an arriving frame above SMALL_BYTES, once; return whether to read."""
        if not self.is_begun:
            self.is_begun = True
            self.has_memory = self._memory.reserve(self._reader, size, now_ms)
        return self.has_memory and not self._is_whole

    def on_frame_complete(self) -> None:
        """Record that a frame is complete."""
        self._is_whole = self.is_begun

    def on_responses_sent(self, now_ms: int) -> None:
        """Record that all complete frames have their responses."""
        if self._is_whole:
            self.release_memory(now_ms)

    def release_memory(self, now_ms: int) -> None:
        """Release its memory."""
        if self.is_begun:
            self.is_begun = self._is_whole = False
            self._memory.release(self._reader, now_ms)
