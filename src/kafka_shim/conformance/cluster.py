"""The cluster of a case: creates topics, groups and ACLs, and does what only an operator can do."""

import asyncio
from collections.abc import Collection, Iterable
from typing import Protocol

from kafka_shim.authorizer.model import Acl, AclFilter, Actor
from kafka_shim.client.preparation import write_record
from kafka_shim.conformance.frames import HistoryWithResponses
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.config import InitialGroup, InitialTopic
from kafka_shim.shim.initial_state import create_group_with_offsets, create_topic
from kafka_shim.shim.settings.defaults import PLAINTEXT
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


ADMIN = Actor("User:admin", "127.0.0.1")


class ClusterUnderTest(Protocol):
    """A cluster that is empty when a case begins."""

    @property
    def release(self) -> str: ...
    @property
    def cluster_control(self) -> ClusterControl | None: ...
    @property
    def frames(self) -> HistoryWithResponses | None: ...
    @property
    def enabled_mechanisms(self) -> Collection[str] | None:
        """The SASL mechanisms of a cluster that was not set up for the cases; None: as needed."""
        ...

    def now_ms(self) -> int: ...
    def accepted_connection_count(self) -> int | None: ...
    def bootstrap_servers(self, listener: str) -> str: ...
    async def create_topic(self, name: str, partitions: int) -> None: ...
    async def delete_topic(self, name: str) -> None: ...
    async def commit_offset_zero_of_partition_zero(self, group: str, topic: str) -> None: ...
    async def write_record(self, topic: str, value: bytes) -> None: ...
    async def acls(self) -> list[Acl]: ...
    async def create_acls(self, acls: Iterable[Acl]) -> None: ...
    async def delete_acls(self, acls: Iterable[Acl]) -> None: ...
    async def wait_for_applied_changes(self) -> None: ...


class ShimCluster:
    """A shim; what a case needs is added to its state directly."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker

    @property
    def release(self) -> str:
        return self.broker.cluster.release

    @property
    def cluster_control(self) -> ClusterControl:
        return ShimClusterControl(self.broker)

    @property
    def frames(self) -> HistoryWithResponses:
        history = self.broker.dispatcher.history
        assert isinstance(history, HistoryWithResponses)
        return history

    @property
    def enabled_mechanisms(self) -> None:
        """Return None: each set-up has the mechanisms that its cases need."""

    def now_ms(self) -> int:
        return self.broker.cluster.clock.now_ms()

    def accepted_connection_count(self) -> int:
        return self.broker.accepted_connection_count

    def bootstrap_servers(self, listener: str) -> str:
        return self.broker.bootstrap_servers(listener)

    async def create_topic(self, name: str, partitions: int) -> None:
        create_topic(self.broker.cluster, InitialTopic(name, partitions))

    async def delete_topic(self, name: str) -> None:
        self.broker.cluster.topics.delete_topic(name)

    async def commit_offset_zero_of_partition_zero(self, group: str, topic: str) -> None:
        create_group_with_offsets(self.broker.cluster, InitialGroup(group, {topic: {0: 0}}))

    async def write_record(self, topic: str, value: bytes) -> None:
        await asyncio.to_thread(write_record, self.bootstrap_servers(PLAINTEXT), topic, value)

    async def acls(self) -> list[Acl]:
        authorizer = self.broker.cluster.policy.authorizer
        assert authorizer is not None
        return list(authorizer.acls(AclFilter()))

    async def create_acls(self, acls: Iterable[Acl]) -> None:
        authorizer = self.broker.cluster.policy.authorizer
        assert authorizer is not None
        authorizer.create_acls(ADMIN, list(acls))

    async def delete_acls(self, acls: Iterable[Acl]) -> None:
        authorizer = self.broker.cluster.policy.authorizer
        assert authorizer is not None
        authorizer.delete_acls(ADMIN, [acl.to_exact_filter() for acl in acls])

    async def wait_for_applied_changes(self) -> None:
        """Return; changes of a shim take effect immediately."""
