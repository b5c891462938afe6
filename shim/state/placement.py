"""Where the replicas of new partitions go: round robin over the brokers, as Kafka spreads them."""

import random
from collections.abc import Sequence

PARTITIONS_MAX = 100_000
"""Of one topic: each takes memory here, and a number of them is quickly said."""


def spread(
    node_ids: Sequence[int],
    partitions: int,
    replication_factor: int,
    rng: random.Random,
    first_partition: int = 0,
) -> list[list[int]]:
    """One replica list a partition, the leader first; leaders go round from a random broker.

    The caller has checked that there are enough brokers.
    """
    assert 0 < replication_factor <= len(node_ids)
    count = len(node_ids)
    start = rng.randrange(count) + first_partition
    return [
        [node_ids[(start + index + step) % count] for step in range(replication_factor)]
        for index in range(partitions)
    ]
