"""A broker of the cluster."""


class Node:
    """One broker of the cluster: its id, its rack, and its listeners by their names.

    `bound` are the hosts and ports where it listens, `endpoints` those advertised to clients.
    """

    __slots__ = ("bound", "endpoints", "is_alive", "node_id", "rack")

    def __init__(self, node_id: int, rack: str | None) -> None:
        self.node_id = node_id
        self.rack = rack
        self.is_alive = True
        self.bound: dict[str, tuple[str, int]] = {}
        self.endpoints: dict[str, tuple[str, int]] = {}
