"""Plays the suite's cases on real brokers started for them: one, or a cluster of two."""

import asyncio
from collections.abc import Iterable, Sequence

from kafka_shim.authorizer.model import Acl
from kafka_shim.client.acls import describe_acls
from kafka_shim.client.client import Client, connect
from kafka_shim.client.preparation import retry_until_no_error
from kafka_shim.conformance.fixtures import ClusterSetup
from kafka_shim.conformance.real_cluster import RealCluster
from kafka_shim.conformance.recording_proxies import RecordingProxies
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kafka_shim.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
)
from kafka_shim.protocol.messages.elect_leaders import (
    ElectLeadersRequest,
    TopicPartitions,
)
from kafka_shim.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from kafka_shim.shim.settings.defaults import LISTENERS
from kafka_shim.shim.state.coordinators import KeyType
from kafka_shim.shim.state.java_collections import java_hash
from tests.oracle.operated_kafka import OperatedKafka
from tests.oracle.real_kafka import PASSWORDS

INTERNAL = {KeyType.GROUP: "__consumer_offsets", KeyType.TRANSACTION: "__transaction_state"}
NOT_YET = int(ErrorCode.LEADER_NOT_AVAILABLE)
"""Stands for a cluster that has not yet reached the requested state."""


class OperatedClusterProvider:
    """Brokers with the set-up of the cases that are played on them."""

    def __init__(self, brokers: Sequence[OperatedKafka], release: str) -> None:
        self._proxies = None if len(brokers) > 1 or brokers[0].has_tls else RecordingProxies()
        self._cluster = OperatedCluster(brokers, release, self._proxies)
        self.release = release
        self.ca_path = str(brokers[0].authority)

    def same(self) -> "OperatedClusterProvider":
        return self

    async def provide_empty_cluster(self, setup: ClusterSetup, title: str) -> RealCluster:
        """Return the cluster without topics, groups and ACLs."""
        del setup
        await asyncio.to_thread(self._cluster.restart_stopped_brokers)
        await asyncio.to_thread(self._cluster.delete_all_resources)
        if self._proxies is not None:
            await self._proxies.start(self._cluster.unproxied_servers(name) for name in LISTENERS)
            self._proxies.begin_case(title)
        return self._cluster

    async def close(self) -> None:
        """Close the proxies; the code that started the brokers stops them."""
        if self._proxies is not None:
            await self._proxies.stop()


class OperatedCluster(RealCluster):
    """A real cluster that can stop its brokers; of two brokers, the second leads new partitions."""

    def __init__(
        self, brokers: Sequence[OperatedKafka], release: str, proxies: RecordingProxies | None
    ) -> None:
        super().__init__({}, release, proxies)
        self._brokers = {broker.node_id: broker for broker in brokers}

    @property
    def cluster_control(self) -> "RealClusterControl":
        return RealClusterControl(self, self._brokers)

    def unproxied_servers(self, listener: str) -> str:
        return ",".join(broker.listeners()[listener] for broker in self._brokers.values())

    def topic_to_create(self, name: str, partitions: int) -> CreatableTopic:
        if len(self._brokers) == 1:
            return super().topic_to_create(name, partitions)
        replicas = sorted(self._brokers, reverse=True)
        placed = [CreatableReplicaAssignment(at, replicas) for at in range(partitions)]
        return CreatableTopic(
            name=name, num_partitions=-1, replication_factor=-1, assignments=placed
        )

    def restart_stopped_brokers(self) -> None:
        """Start the brokers that a case left stopped, and restore the passwords."""
        for broker in self._brokers.values():
            broker.set_passwords(PASSWORDS)
            if not broker.is_running:
                broker.start_again()
        self.wait_for_brokers()

    def wait_for_brokers(self) -> None:
        """Wait until Metadata of each running broker lists all running brokers."""
        running = {node_id: each for node_id, each in self._brokers.items() if each.is_running}

        def missing_broker_error() -> int:
            for broker in running.values():
                with connect(broker.plain) as client:
                    listed_brokers = client.send_request(
                        ApiKey.METADATA, MetadataRequest(topics=[])
                    ).brokers
                if {row.node_id: row.port for row in listed_brokers} != {
                    node_id: each.plain_port for node_id, each in running.items()
                }:
                    return NOT_YET
            return 0

        retry_until_no_error("see the brokers", missing_broker_error)
        if len(running) > 1:
            retry_until_no_error(
                "see the same ACLs at all brokers",
                lambda: self._different_acls_error(running.values()),
            )

    @staticmethod
    def _different_acls_error(brokers: Iterable[OperatedKafka]) -> int:
        """Return NOT_YET if the brokers list different ACLs, 0 otherwise."""
        acls_by_broker: list[set[Acl]] = []
        for broker in brokers:
            with connect(broker.plain) as client:
                acls_by_broker.append(set(describe_acls(client)))
        return 0 if all(acls == acls_by_broker[0] for acls in acls_by_broker) else NOT_YET

    def _create_acls_blocking(self, acls: list[Acl]) -> None:
        super()._create_acls_blocking(acls)
        self.wait_for_brokers()


class RealClusterControl:
    """Moves leaders by requests, and stops brokers by signals."""

    def __init__(self, cluster: OperatedCluster, brokers: dict[int, OperatedKafka]) -> None:
        self._cluster = cluster
        self._brokers = brokers

    async def leader_id(self, topic: str) -> int:
        return await asyncio.to_thread(self._leader_id, topic, 0)

    async def move_leader(self, topic: str) -> None:
        await asyncio.to_thread(self._move_leader, topic, 0)

    async def move_coordinator(self, key_type: KeyType, key: str) -> None:
        await asyncio.to_thread(self._move_coordinator, INTERNAL[key_type], key)

    async def stop_broker(self, node_id: int) -> None:
        await asyncio.to_thread(self._stop_broker, node_id)

    def _stop_broker(self, node_id: int) -> None:
        self._brokers[node_id].shut_down()
        if any(broker.is_running for broker in self._brokers.values()):
            self._cluster.wait_for_brokers()

    async def restart_broker(self, node_id: int, *, on_new_port: bool = False) -> None:
        await asyncio.to_thread(self._restart_broker, node_id, on_new_port)

    def _restart_broker(self, node_id: int, on_new_port: bool) -> None:
        self._brokers[node_id].start_again(is_moved=on_new_port)
        self._cluster.wait_for_brokers()

    async def set_password(self, user: str, password: str) -> None:
        for broker in self._brokers.values():
            broker.set_passwords({**PASSWORDS, user: password})

    def _move_coordinator(self, topic: str, key: str) -> None:
        with self._cluster.connect_as_super_user() as client:
            (topic_row,) = _topic_metadata(client, topic).topics
        self._move_leader(topic, (abs(java_hash(key)) & 0x7FFF_FFFF) % len(topic_row.partitions))

    def _leader_id(self, topic: str, partition: int) -> int:
        with self._cluster.connect_as_super_user() as client:
            return _leader_id(client, topic, partition)

    def _move_leader(self, topic: str, partition: int) -> None:
        """Let the other broker lead: make it the preferred replica, then elect it."""
        leader = self._leader_id(topic, partition)
        other = next(node_id for node_id in self._brokers if node_id != leader)
        row = ReassignablePartition(partition, [other, leader])
        placing = AlterPartitionReassignmentsRequest(topics=[ReassignableTopic(topic, [row])])
        electing = ElectLeadersRequest(topic_partitions=[TopicPartitions(topic, [partition])])

        def unmoved_leader_error() -> int:
            with self._cluster.connect_as_super_user() as client:
                client.send_request(ApiKey.ALTER_PARTITION_REASSIGNMENTS, placing)
                client.send_request(ApiKey.ELECT_LEADERS, electing)
            for broker in self._brokers.values():
                if broker.is_running:
                    with connect(broker.plain) as client:
                        if _leader_id(client, topic, partition) != other:
                            return NOT_YET
            return 0

        retry_until_no_error(f"move the leader of {topic}-{partition}", unmoved_leader_error)


def _topic_metadata(client: Client, topic: str) -> MetadataResponse:
    response: MetadataResponse = client.send_request(
        ApiKey.METADATA, MetadataRequest(topics=[MetadataRequestTopic(name=topic)])
    )
    return response


def _leader_id(client: Client, topic: str, partition: int) -> int:
    (topic_row,) = _topic_metadata(client, topic).topics
    return next(
        (row.leader_id for row in topic_row.partitions if row.partition_index == partition), -1
    )
