"""Requests of clients that push metrics (KIP-714), and of administrators."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey, ConfigResourceType
from tests.recordings.groups.play import Play

SETTLING_MS = 300
"""Time after which a real broker has applied a setting."""
SET, DELETE = 0, 1
CLIENT_SENT = "client_instance_id"


class TelemetryPlay(Play):
    """A play that records client instance ids, and ids of subscriptions to at most one metric.

    Ids of subscriptions to several metrics depend on the order of Java's sets.
    """

    def subscribe(self, name: str, **settings: str | None) -> None:
        """Set settings of a subscription; None removes one."""
        configs = [
            {
                "name": key.replace("_", "."),
                "value": value,
                "config_operation": DELETE if value is None else SET,
            }
            for key, value in settings.items()
        ]
        resource = {
            "resource_type": ConfigResourceType.CLIENT_METRICS,
            "resource_name": self.text(f"-{name}"),
            "configs": configs,
        }
        label = ", ".join(f"{name}: {key}={value}" for key, value in settings.items())
        request = {"resources": [resource]}
        self.call(label, ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, request)
        self.peer.pause(SETTLING_MS)

    def unsubscribe(self, *names: str) -> None:
        for name in names:
            self.subscribe(name, metrics=None, match=None, interval_ms=None)

    def get(self, label: str, instance: bytes = bytes(16), connection: str = "a") -> Any:
        request = {CLIENT_SENT: instance}
        return self.call(label, ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, 0, request, connection)

    def push(
        self,
        label: str,
        instance: bytes,
        subscription_id: int,
        metrics: bytes = b"metrics",
        *,
        compression: int = 0,
        terminating: bool = False,
        connection: str = "a",
    ) -> Any:
        request = {
            CLIENT_SENT: instance,
            "subscription_id": subscription_id,
            "terminating": terminating,
            "compression_type": compression,
            "metrics": metrics,
        }
        return self.call(label, ApiKey.PUSH_TELEMETRY, 0, request, connection)

    def client(self, number: int) -> bytes:
        """Return a client instance id that the client chooses itself."""
        return bytes([number]) * 16

    def keep(self, label: str, api: ApiKey, version: int, response: Any) -> None:
        super().keep(label, api, version, response)
        if api is ApiKey.GET_TELEMETRY_SUBSCRIPTIONS and not isinstance(response, str):
            plain = self.steps[-1][1]
            if len(set(response.client_instance_id)) > 1:
                plain[CLIENT_SENT] = plain["subscription_id"] = "made up"
            if len(response.requested_metrics) > 1:
                plain["subscription_id"] = "of several"
                plain["requested_metrics"] = sorted(response.requested_metrics)

    def wait(self, milliseconds: int) -> None:
        self.peer.pause(milliseconds)
