"""Stop and start the nodes of a cluster, and move leaders and coordinators, for the control API."""

from collections.abc import Mapping
from typing import Any

import msgspec

from kafka_shim.shim.broker import Broker
from kafka_shim.shim.control.control_error import ControlError, query_number
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.state.coordinators import KeyType
from kafka_shim.shim.state.leadership import move_partition_leader
from kafka_shim.shim.state.topics import Partition
from kafka_shim.text.whole_number import parse_whole_number


class NodeControl:
    """The nodes of a broker's cluster, its listeners, authentications and client metrics."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._cluster = broker.cluster

    def list_nodes(self) -> dict[str, Any]:
        addresses: dict[int, dict[str, str]] = {
            node_id: dict(self._broker.listener_addresses_of_node(node_id))
            for node_id in self._cluster.nodes
        }
        return {
            "controller_id": self._cluster.controller_id,
            "nodes": [
                {
                    "node_id": node.node_id,
                    "is_alive": node.is_alive,
                    "listeners": addresses[node.node_id],
                }
                for node in self._cluster.nodes.values()
            ],
        }

    def list_listeners(self) -> dict[str, Any]:
        """Return the addresses and security settings of each listener."""
        mechanisms = {
            listener.name: sorted(self._cluster.mechanisms_by_listener[listener.name])
            for listener in self._cluster.config.listeners
            if listener.protocol.uses_sasl
        }
        return {
            "listeners": [
                {
                    "name": listener.name,
                    "security_protocol": listener.protocol.value,
                    "sasl_mechanisms": sorted(mechanisms[listener.name])
                    if listener.protocol.uses_sasl
                    else [],
                    "bootstrap_servers": self._broker.bootstrap_servers(listener.name),
                }
                for listener in self._cluster.config.listeners
            ]
        }

    def list_authentications(self, query: Mapping[str, str]) -> dict[str, Any]:
        """Return the authentications, all or those after a number."""
        after = query_number(query, "after", 0)
        log = self._cluster.authentications
        rows = [msgspec.structs.asdict(row) for row in log if row.number > after]
        return {"authentications": rows, "last": log.last_number}

    async def stop_node(self, node_id: str) -> dict[str, Any]:
        await self._broker.stop_node(self._node_id_or_404(node_id))
        return self.list_nodes()

    async def start_node(self, node_id: str) -> dict[str, Any]:
        try:
            await self._broker.start_node(self._node_id_or_404(node_id))
        except ConfigError as error:
            raise ControlError(409, str(error)) from error
        return self.list_nodes()

    def list_telemetry_pushes(self) -> dict[str, Any]:
        """Return the metrics that clients pushed to any broker."""
        return {
            "pushes": [
                {
                    "node_id": node_id,
                    "principal": push.client.principal,
                    "client_instance_id": push.client.client_instance_id,
                    "client_id": push.client.client_id,
                    "client_software_name": push.client.client_software_name,
                    "client_software_version": push.client.client_software_version,
                    "is_terminating": push.is_terminating,
                    "compression": push.compression.name.lower(),
                    "bytes_sent": push.bytes_sent,
                    "bytes_decompressed": push.bytes_decompressed,
                }
                for node_id, telemetry in self._cluster.telemetry.items()
                for push in telemetry.pushes
            ]
        }

    def move_leader(self, topic: str, partition: str, node_id: int) -> dict[str, Any]:
        """Make a node the leader of a partition. Raise ControlError if one of them is unknown."""
        assigned_partition = None
        number = parse_whole_number(partition)
        if number is not None:
            assigned_partition = self._cluster.topics.controller_partition(topic, number)
        if assigned_partition is None:
            raise ControlError(404, f"unknown partition {partition} of topic `{topic}`")
        return self._move_leader_of_partition(assigned_partition, node_id)

    def move_coordinator(self, group_id: str, node_id: int) -> dict[str, Any]:
        """Move a group's coordinator, and with it those of all groups in its partition."""
        partition = self._cluster.coordinators.coordinator_partition_creating_topic(
            KeyType.GROUP, group_id
        )
        return self._move_leader_of_partition(partition, node_id)

    def _move_leader_of_partition(self, partition: Partition, node_id: int) -> dict[str, Any]:
        self._node_id_or_404(str(node_id))
        if not self._cluster.nodes[node_id].is_alive:
            raise ControlError(409, f"broker {node_id} is stopped, so it cannot lead")
        move_partition_leader(self._cluster.topics, partition, node_id)
        return {"leader_id": partition.leader_id, "leader_epoch": partition.leader_epoch}

    def _node_id_or_404(self, text: str) -> int:
        number = parse_whole_number(text)
        if number is None or number not in self._cluster.nodes:
            known = ", ".join(str(node_id) for node_id in self._cluster.nodes)
            raise ControlError(404, f"unknown broker {text}; expected one of {known}")
        return number
