"""Partition leadership when brokers stop or restart, or when an election is requested.

All brokers share one log, so a replica is in sync once its broker is alive and the partition has a
leader. A restarted broker does not become leader again by itself.
"""

from collections.abc import Callable, Collection

from kafka_shim.shim.state.topics import NOBODY, Partition, Topic, Topics


def settle(
    topics: Topics, alive: Collection[int], is_unclean: Callable[[Topic], bool] = lambda _: False
) -> None:
    """Update leaders and ISRs of all partitions for the live brokers.

    A stopped leader is replaced by the first live in-sync replica, else by none: then the ISR stays
    as it was, and only its members can become leader. In topics that are unclean, any live replica
    can (`unclean.leader.election.enable`).

    DEVIATION: such a leader has all records, while a real one lacks those that it missed.
    """
    for topic in topics:
        for partition in topic.partitions:
            candidates = [each for each in partition.replicas if each in partition.isr]
            if not any(each in alive for each in candidates) and is_unclean(topic):
                candidates = partition.replicas
            _settle(partition, topics, [each for each in candidates if each in alive], alive)


def move_leader(topics: Topics, partition: Partition, node_id: int) -> None:
    """Make a live broker the leader; without a replica, it replaces the leader's replica."""
    if node_id == partition.leader_id:
        return
    if node_id not in partition.replicas:
        gone = partition.leader_id if partition.leader_id in partition.replicas else None
        kept = [replica for replica in partition.replicas if replica != gone]
        topics.reassign(partition, [node_id, *kept])
    if node_id != partition.leader_id:  # reassigning may have elected it
        topics.elect(partition, node_id)


def _settle(
    partition: Partition, topics: Topics, candidates: list[int], alive: Collection[int]
) -> None:
    if partition.leader_id not in candidates:
        leader_id = candidates[0] if candidates else NOBODY
        if leader_id != partition.leader_id:
            topics.elect(partition, leader_id)
    if candidates:
        topics.sync(partition, [replica for replica in partition.replicas if replica in alive])
