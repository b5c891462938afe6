"""The brokers of a cluster, as a test sees them."""

from typing import Any
from urllib.parse import quote

from kafka_shim.shim.testing.rows import NodeRow


class Nodes:
    """Stopping and starting brokers, and moving what they lead (`brokers=3`)."""

    def __init__(self, ask: Any) -> None:
        self._ask = ask

    def list(self) -> list[NodeRow]:
        """Return `node_id`, `is_alive` and `listeners` of each."""
        return [NodeRow(node) for node in self._ask("GET", "/nodes")["nodes"]]

    def stop(self, node_id: int) -> None:
        """Its clients are hung up on, connecting is refused, and replicas elsewhere lead."""
        self._ask("POST", f"/nodes/{node_id}/stop")

    def start(self, node_id: int) -> None:
        """On the ports that it had; leaders stay where they are."""
        self._ask("POST", f"/nodes/{node_id}/start")

    def move_leader(self, topic: str, partition: int, node_id: int) -> int:
        """Have another broker lead, one with a replica or without; gives the leader epoch."""
        path = f"/topics/{quote(topic, safe='')}/partitions/{partition}/leader"
        return int(self._ask("POST", path, {"node_id": node_id})["leader_epoch"])

    def move_coordinator(self, group_id: str, node_id: int) -> None:
        """Have another broker coordinate a group."""
        path = f"/groups/{quote(group_id, safe='')}/coordinator"
        self._ask("POST", path, {"node_id": node_id})
