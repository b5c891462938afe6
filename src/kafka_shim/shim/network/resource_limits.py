"""Limits of resources that peers can occupy: the shim's own, or Kafka's settings."""

from typing import Any

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
