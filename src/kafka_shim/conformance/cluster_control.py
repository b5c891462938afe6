"""What only an operator of brokers can do: move leaders, stop brokers, change passwords."""

from typing import Protocol

from kafka_shim.shim.broker import Broker
from kafka_shim.shim.state.coordinators import KeyType
from kafka_shim.shim.state.leadership import move_partition_leader
from kafka_shim.shim.state.topics import Partition


class ClusterControl(Protocol):
    """Changes a cluster of one or two brokers during a case; its topics have one partition."""

    async def leader_id(self, topic: str) -> int: ...
    async def move_leader(self, topic: str) -> None: ...
    async def move_coordinator(self, key_type: KeyType, key: str) -> None: ...
    async def stop_broker(self, node_id: int) -> None: ...
    async def restart_broker(self, node_id: int, *, on_new_port: bool = False) -> None: ...
    async def set_password(self, user: str, password: str) -> None: ...


class ShimClusterControl:
    """Changes the state of a shim."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    async def leader_id(self, topic: str) -> int:
        """Return the id of the broker that leads the topic."""
        return self._first_partition(topic).leader_id

    async def move_leader(self, topic: str) -> None:
        """Make the other broker the leader of the topic."""
        self._move_leader_to_other_broker(self._first_partition(topic))

    async def move_coordinator(self, key_type: KeyType, key: str) -> None:
        """Make the other broker the coordinator of a group or transaction."""
        self._move_leader_to_other_broker(
            self._broker.cluster.coordinators.coordinator_partition_creating_topic(key_type, key)
        )

    async def stop_broker(self, node_id: int) -> None:
        await self._broker.stop_node(node_id)

    async def restart_broker(self, node_id: int, *, on_new_port: bool = False) -> None:
        """Start a stopped broker again; `on_new_port`: on another port."""
        await self._broker.start_node(node_id, on_new_ports=on_new_port)

    async def set_password(self, user: str, password: str) -> None:
        self._broker.cluster.users.set_configured_user(user, password)

    def _first_partition(self, topic: str) -> Partition:
        partition = self._broker.cluster.topics.led_partition(topic, 0)
        assert partition is not None
        return partition

    def _move_leader_to_other_broker(self, partition: Partition) -> None:
        cluster = self._broker.cluster
        other = next(node_id for node_id in cluster.nodes if node_id != partition.leader_id)
        move_partition_leader(cluster.topics, partition, other)
