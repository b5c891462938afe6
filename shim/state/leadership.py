"""Who leads which partition when brokers stop and come back, or when somebody wants another leader.

Every broker here has the one log, so a replica is in sync as soon as its broker is alive and the
partition has a leader. Leadership does not go back by itself to a broker that comes back.
"""

from collections.abc import Collection

from kafka_shim.shim.state.topics import NOBODY, Partition, Topics


def settle(topics: Topics, alive: Collection[int]) -> None:
    """Bring every partition in line with which brokers are alive.

    A leader that is gone is followed by the first in-sync replica that is alive, else by nobody:
    then the last ones in sync stay so, and only they may lead again.
    """
    for topic in topics:
        for partition in topic.partitions:
            _settle(partition, topics, alive)


def move_leader(topics: Topics, partition: Partition, node_id: int) -> None:
    """Have a live broker lead; one that holds no replica takes the place of the leader's."""
    if node_id == partition.leader_id:
        return
    if node_id not in partition.replicas:
        gone = partition.leader_id if partition.leader_id in partition.replicas else None
        kept = [replica for replica in partition.replicas if replica != gone]
        topics.reassign(partition, [node_id, *kept])
    if node_id != partition.leader_id:  # reassigning may have elected it
        topics.elect(partition, node_id)


def _settle(partition: Partition, topics: Topics, alive: Collection[int]) -> None:
    candidates = [
        replica for replica in partition.replicas if replica in partition.isr and replica in alive
    ]
    if partition.leader_id not in candidates:
        leader_id = candidates[0] if candidates else NOBODY
        if leader_id != partition.leader_id:
            topics.elect(partition, leader_id)
    if candidates:
        topics.sync(partition, [replica for replica in partition.replicas if replica in alive])
