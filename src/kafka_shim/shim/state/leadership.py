"""Partition leadership when brokers stop or restart, or when an election is requested.

All brokers share one log, so a replica is in sync once its broker is alive and the partition has a
leader. A restarted broker does not become leader again by itself.
"""

from collections.abc import Callable, Collection
from typing import NamedTuple

from kafka_shim.shim.state.topics import NOBODY, Partition, Topic, Topics


class ElectionRules(NamedTuple):
    """How leaders of a topic are elected.

    `min_isr_if_elr_enabled` is `min.insync.replicas` if the cluster has eligible leader replicas
    (KIP-966), which may lead without being in sync.
    """

    allows_unclean_election: bool = False
    min_isr_if_elr_enabled: int | None = None


def update_leaders(
    topics: Topics,
    live_node_ids: Collection[int],
    rules_of_topic: Callable[[Topic], ElectionRules] = lambda _: ElectionRules(),
) -> None:
    """Update leaders and ISRs of all partitions for the live brokers.

    A stopped leader is replaced by the first live replica that is in sync or eligible, else by
    none: then the ISR stays as it was, or its members are eligible, and only they can become
    leader. In unclean topics, any live replica can (`unclean.leader.election.enable`).

    DEVIATION: such a leader has all records, while a real one lacks those that it missed.
    """
    for topic in topics:
        for partition in topic.partitions:
            live = [replica for replica in partition.replicas if replica in live_node_ids]
            if partition.leader_id not in live or partition.isr != live or partition.eligible:
                _update_replica_sets(partition, topics, live, rules_of_topic(topic))


def move_partition_leader(topics: Topics, partition: Partition, node_id: int) -> None:
    """Make a live broker the leader; without a replica, it replaces the leader's replica."""
    if node_id == partition.leader_id:
        return
    if node_id not in partition.replicas:
        gone = partition.leader_id if partition.leader_id in partition.replicas else None
        kept = [replica for replica in partition.replicas if replica != gone]
        topics.replace_replicas(partition, [node_id, *kept])
    if node_id != partition.leader_id:  # reassigning may have elected it
        topics.elect_leader(partition, node_id)


def _update_replica_sets(
    partition: Partition, topics: Topics, live: list[int], rules: ElectionRules
) -> None:
    leader_id, isr = partition.leader_id, partition.isr
    known, last_known = {*partition.eligible, *isr}, partition.last_known
    candidates = [replica for replica in live if replica in known]
    if not candidates and rules.allows_unclean_election and live:
        candidates, known, last_known = live, set(), []
    if leader_id not in candidates:
        elected = candidates[0] if candidates else NOBODY
        if elected != leader_id:
            topics.elect_leader(partition, elected)
    if candidates:
        topics.set_in_sync_replicas(partition, live)
    elif rules.min_isr_if_elr_enabled is not None:
        topics.set_in_sync_replicas(partition, [])
        last_known = [leader_id] if isr else last_known
    if rules.min_isr_if_elr_enabled is not None:
        has_enough = len(partition.isr) >= min(
            rules.min_isr_if_elr_enabled, len(partition.replicas)
        )
        partition.eligible = [] if has_enough else sorted(known.difference(partition.isr))
        partition.last_known = [] if has_enough or partition.isr else last_known
