"""The brokers of a target, and which of them leads a partition or coordinates a group."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.traces.proxy.response_addresses import (
    advertised_brokers,
    response_contains_broker_addresses,
)
from kafka_shim.traces.replay.target_connection import Address

GROUP, TRANSACTION = 0, 1
"""Key types of FindCoordinator."""

TopicKey = str | bytes
"""The name of a topic, or its id."""


class TargetTopology:
    """What the target's responses say about its brokers; leaders by names and ids of topics."""

    def __init__(self) -> None:
        self.leaders: dict[tuple[TopicKey, int], int] = {}
        self.coordinators: dict[tuple[int, str], int] = {}
        self.versions: dict[int, tuple[int, int]] = {}
        """Lowest and highest version of each API."""
        self._addresses: dict[str, dict[int, Address]] = {}

    def learn(self, listener: str, api_key: int, request: Any, response: Any) -> None:
        """Learn from a response that was received over this listener."""
        if response_contains_broker_addresses(api_key):
            known = self._addresses.setdefault(listener, {})
            known.update(
                (node_id, (host, port))
                for node_id, host, port in advertised_brokers(api_key, response)
                if node_id >= 0
            )
        if api_key == ApiKey.METADATA:
            self._learn_leaders(response)
        elif api_key == ApiKey.FIND_COORDINATOR and request is not None:
            self._learn_coordinators(request, response)
        elif api_key == ApiKey.API_VERSIONS and not response.error_code:
            self.versions |= {
                row.api_key: (row.min_version, row.max_version) for row in response.api_keys
            }

    def addresses(self, listener: str) -> dict[int, Address]:
        """Return the addresses of the brokers by id, as far as known."""
        return self._addresses.get(listener, {})

    def is_known(self, listener: str) -> bool:
        """Return whether any broker is known by its address in this listener."""
        return listener in self._addresses

    def has_several_brokers(self, listener: str) -> bool:
        return len(self.addresses(listener)) > 1

    @property
    def broker_count(self) -> int:
        """Return the number of brokers, 0 if it is unknown."""
        return max(map(len, self._addresses.values()), default=0)

    def _learn_leaders(self, response: Any) -> None:
        for topic in response.topics:
            for row in topic.partitions:
                for key in (topic.name, topic.topic_id):
                    if key and row.leader_id >= 0:
                        self.leaders[key, row.partition_index] = row.leader_id

    def _learn_coordinators(self, request: Any, response: Any) -> None:
        for row in response.coordinators:
            if not row.error_code:
                self.coordinators[request.key_type, row.key] = row.node_id
        if request.key and not response.error_code and not response.coordinators:
            self.coordinators[request.key_type, request.key] = response.node_id
