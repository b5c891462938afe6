"""Plays the suite's cases on real brokers started for them: one, or a cluster of two."""

import asyncio
from collections.abc import Iterable, Sequence

from kafka_shim.authorizer.model import Acl
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kafka_shim.protocol.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
)
from kafka_shim.protocol.messages.elect_leaders_request import (
    ElectLeadersRequest,
    TopicPartitions,
)
from kafka_shim.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.messages.metadata_response import MetadataResponse
from kafka_shim.shim.client.acls import describe_acls
from kafka_shim.shim.client.client import Client, connect
from kafka_shim.shim.conformance.fixtures import Setup
from kafka_shim.shim.conformance.proxying import RecordingProxies
from kafka_shim.shim.conformance.real_cluster import RealCluster, wait_until_zero
from kafka_shim.shim.settings.defaults import LISTENERS
from kafka_shim.shim.state.coordinators import KeyType
from kafka_shim.shim.state.java_collections import java_hash
from tests.oracle.operated_kafka import OperatedKafka
from tests.oracle.real_kafka import PASSWORDS

INTERNAL = {KeyType.GROUP: "__consumer_offsets", KeyType.TRANSACTION: "__transaction_state"}
WAITING = int(ErrorCode.LEADER_NOT_AVAILABLE)
"""Stands for a cluster that has not yet reached the requested state."""


class OperatedPlaces:
    """Brokers with the set-up of the cases that are played on them."""

    def __init__(self, brokers: Sequence[OperatedKafka], release: str) -> None:
        self._forwarding = None if len(brokers) > 1 or brokers[0].has_tls else RecordingProxies()
        self._place = OperatedPlace(brokers, release, self._forwarding)
        self.release = release
        self.authority = str(brokers[0].authority)

    def same(self) -> "OperatedPlaces":
        return self

    async def cluster(self, setup: Setup, title: str) -> RealCluster:
        """Return the place, emptied."""
        del setup
        await asyncio.to_thread(self._place.run_all)
        await asyncio.to_thread(self._place.empty)
        if self._forwarding is not None:
            await self._forwarding.start(self._place.addresses(name) for name in LISTENERS)
            self._forwarding.begin(title)
        return self._place

    async def stop(self) -> None:
        """Close the proxies; the code that started the brokers stops them."""
        if self._forwarding is not None:
            await self._forwarding.stop()


class OperatedPlace(RealCluster):
    """A place that can stop its brokers; of two brokers, the second leads new partitions."""

    def __init__(
        self, brokers: Sequence[OperatedKafka], release: str, proxies: RecordingProxies | None
    ) -> None:
        super().__init__({}, release, proxies)
        self._brokers = {broker.node_id: broker for broker in brokers}

    @property
    def cluster_control(self) -> "RealOperator":
        return RealOperator(self, self._brokers)

    def addresses(self, security: str) -> str:
        return ",".join(broker.listeners()[security] for broker in self._brokers.values())

    def topic(self, name: str, partitions: int) -> CreatableTopic:
        if len(self._brokers) == 1:
            return super().topic(name, partitions)
        replicas = sorted(self._brokers, reverse=True)
        placed = [CreatableReplicaAssignment(at, replicas) for at in range(partitions)]
        return CreatableTopic(
            name=name, num_partitions=-1, replication_factor=-1, assignments=placed
        )

    def run_all(self) -> None:
        """Start the brokers that a case left stopped, and restore the passwords."""
        for broker in self._brokers.values():
            broker.set_passwords(PASSWORDS)
            if not broker.is_running:
                broker.start_again()
        self.wait_for_brokers()

    def wait_for_brokers(self) -> None:
        """Wait until Metadata of each running broker lists all running brokers."""
        running = {node_id: each for node_id, each in self._brokers.items() if each.is_running}

        def missing() -> int:
            for broker in running.values():
                with connect(broker.plain) as client:
                    told = client.ask(ApiKey.METADATA, MetadataRequest(topics=[])).brokers
                if {row.node_id: row.port for row in told} != {
                    node_id: each.plain_port for node_id, each in running.items()
                }:
                    return WAITING
            return 0

        wait_until_zero("see the brokers", missing)
        if len(running) > 1:
            wait_until_zero(
                "see the same ACLs at all brokers", lambda: self._differ(running.values())
            )

    @staticmethod
    def _differ(brokers: Iterable[OperatedKafka]) -> int:
        """Return WAITING if the brokers list different ACLs, 0 otherwise."""
        seen = []
        for broker in brokers:
            with connect(broker.plain) as client:
                seen.append(set(describe_acls(client)))
        return 0 if all(acls == seen[0] for acls in seen) else WAITING

    def _create_acls(self, acls: list[Acl]) -> None:
        super()._create_acls(acls)
        self.wait_for_brokers()


class RealOperator:
    """Moves leaders by requests, and stops brokers by signals."""

    def __init__(self, cluster: OperatedPlace, brokers: dict[int, OperatedKafka]) -> None:
        self._place = cluster
        self._brokers = brokers

    async def leader(self, topic: str) -> int:
        return await asyncio.to_thread(self._leader, topic, 0)

    async def move_leader(self, topic: str) -> None:
        await asyncio.to_thread(self._move, topic, 0)

    async def move_coordinator(self, key_type: KeyType, key: str) -> None:
        await asyncio.to_thread(self._move_coordinator, INTERNAL[key_type], key)

    async def stop(self, node_id: int) -> None:
        await asyncio.to_thread(self._stop, node_id)

    def _stop(self, node_id: int) -> None:
        self._brokers[node_id].shut_down()
        if any(broker.is_running for broker in self._brokers.values()):
            self._place.wait_for_brokers()

    async def start(self, node_id: int, *, is_moved: bool = False) -> None:
        await asyncio.to_thread(self._start, node_id, is_moved)

    def _start(self, node_id: int, is_moved: bool) -> None:
        self._brokers[node_id].start_again(is_moved=is_moved)
        self._place.wait_for_brokers()

    async def set_password(self, user: str, password: str) -> None:
        for broker in self._brokers.values():
            broker.set_passwords({**PASSWORDS, user: password})

    def _move_coordinator(self, topic: str, key: str) -> None:
        with self._place.client() as client:
            (found,) = _described(client, topic).topics
        self._move(topic, (abs(java_hash(key)) & 0x7FFF_FFFF) % len(found.partitions))

    def _leader(self, topic: str, partition: int) -> int:
        with self._place.client() as client:
            return _leader(client, topic, partition)

    def _move(self, topic: str, partition: int) -> None:
        """Let the other broker lead: make it the preferred replica, then elect it."""
        leader = self._leader(topic, partition)
        other = next(node_id for node_id in self._brokers if node_id != leader)
        row = ReassignablePartition(partition, [other, leader])
        placing = AlterPartitionReassignmentsRequest(topics=[ReassignableTopic(topic, [row])])
        electing = ElectLeadersRequest(topic_partitions=[TopicPartitions(topic, [partition])])

        def left() -> int:
            with self._place.client() as client:
                client.ask(ApiKey.ALTER_PARTITION_REASSIGNMENTS, placing)
                client.ask(ApiKey.ELECT_LEADERS, electing)
            for broker in self._brokers.values():
                if broker.is_running:
                    with connect(broker.plain) as client:
                        if _leader(client, topic, partition) != other:
                            return WAITING
            return 0

        wait_until_zero(f"move the leader of {topic}-{partition}", left)


def _described(client: Client, topic: str) -> MetadataResponse:
    response: MetadataResponse = client.ask(
        ApiKey.METADATA, MetadataRequest(topics=[MetadataRequestTopic(name=topic)])
    )
    return response


def _leader(client: Client, topic: str, partition: int) -> int:
    (found,) = _described(client, topic).topics
    return next((row.leader_id for row in found.partitions if row.partition_index == partition), -1)
