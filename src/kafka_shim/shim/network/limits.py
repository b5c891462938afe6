"""The limits of resources that peers can occupy: the shim's own, or Kafka's settings."""

from typing import Any

import msgspec

from kafka_shim.shim.config import Limits
from kafka_shim.shim.state.cluster import Cluster

_SETTINGS = {
    "socket.request.max.bytes": "frame_bytes_max",
    "sasl.server.max.receive.size": "unauthenticated_frame_bytes_max",
    "queued.max.request.bytes": "queued_bytes_max",
    "connections.max.idle.ms": "idle_ms_max",
}


def limits_in_force(cluster: Cluster) -> Limits:
    """Return the configuration's limits, with the values of given settings."""
    given: dict[str, Any] = {}
    for setting, field in _SETTINGS.items():
        value = cluster.configs.own_broker_value(setting)
        if value is not None and (int(value) > 0 or field == "idle_ms_max"):
            given[field] = int(value)
    return msgspec.structs.replace(cluster.config.limits, **given)
