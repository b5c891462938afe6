"""The log directory of each replica on brokers with several (JBOD, KIP-113)."""

from collections.abc import Sequence

from kafka_shim.shim.state.topics import Partition, Topic, Topics

_Replica = tuple[str, int]
"""A topic's name, and the index of its partition."""


class ReplicaDirectories:
    """Directories of replicas: the one that a client has chosen, else that with the fewest.

    Replicas are placed when somebody asks. Not kept across restarts.
    """

    def __init__(self, topics: Topics) -> None:
        self._topics = topics
        self._placed: dict[int, dict[Partition, str]] = {}
        self._chosen: dict[tuple[int, _Replica], str] = {}
        """Of replicas that do not exist yet."""

    def place(self, node_id: int, directories: Sequence[str]) -> dict[Partition, str]:
        """Return the directory of each replica of a broker."""
        before = self._placed.get(node_id, {})
        placed = self._placed[node_id] = dict[Partition, str]()
        counts = dict.fromkeys(directories, 0)
        new: list[tuple[Topic, Partition]] = []
        for topic in self._topics:
            for partition in replicas_of_node(topic, node_id):
                if partition in before:
                    placed[partition] = before[partition]
                    counts[before[partition]] += 1
                else:
                    new.append((topic, partition))
        for topic, partition in new:
            fewest = min(counts, key=counts.__getitem__)
            replica = (topic.name, partition.index)
            placed[partition] = self._chosen.pop((node_id, replica), fewest)
            counts[placed[partition]] += 1
        return placed

    def move(
        self, node_id: int, replica: _Replica, directory: str, directories: Sequence[str]
    ) -> None:
        """Put a replica into a directory; one that does not exist when it is created."""
        placed, (name, index) = self.place(node_id, directories), replica
        topic = self._topics.get(name)
        for partition in () if topic is None else replicas_of_node(topic, node_id):
            if partition.index == index:
                placed[partition] = directory
                return
        self._chosen[node_id, replica] = directory


def replicas_of_node(topic: Topic, node_id: int) -> list[Partition]:
    """Return the partitions of a topic that a broker has a replica of."""
    return [
        partition
        for partition in topic.partitions
        if node_id in partition.replicas and partition.is_open
    ]
