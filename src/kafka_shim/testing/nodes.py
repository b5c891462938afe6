"""The brokers of a cluster, as a test sees them."""

from typing import Any
from urllib.parse import quote

from kafka_shim.testing.rows import NodeRow


class Nodes:
    """Stops and starts brokers, and moves leaders and coordinators (`brokers=3`)."""

    def __init__(self, call_control_api: Any) -> None:
        self._call_control_api = call_control_api

    def list(self) -> list[NodeRow]:
        """Return `node_id`, `is_alive` and `listeners` of each."""
        return [NodeRow(node) for node in self._call_control_api("GET", "/nodes")["nodes"]]

    def stop(self, node_id: int) -> None:
        """Stop a broker: clients are disconnected, connections refused, and other replicas lead."""
        self._call_control_api("POST", f"/nodes/{node_id}/stop")

    def start(self, node_id: int) -> None:
        """Start a stopped broker on its former ports; leaders do not move back."""
        self._call_control_api("POST", f"/nodes/{node_id}/start")

    def move_leader(self, topic: str, partition: int, node_id: int) -> int:
        """Make any other broker the leader, also one without a replica; return the leader epoch."""
        path = f"/topics/{quote(topic, safe='')}/partitions/{partition}/leader"
        return int(self._call_control_api("POST", path, {"node_id": node_id})["leader_epoch"])

    def move_coordinator(self, group_id: str, node_id: int) -> None:
        """Make another broker the coordinator of a group."""
        path = f"/groups/{quote(group_id, safe='')}/coordinator"
        self._call_control_api("POST", path, {"node_id": node_id})
