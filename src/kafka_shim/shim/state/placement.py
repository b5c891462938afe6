"""Placement of the replicas of new partitions: round robin over brokers and racks, as in Kafka."""

import random
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import zip_longest

from kafka_shim.shim.state.node import Node

PARTITIONS_MAX = 100_000
"""Of one topic, and of all that one request makes: each takes memory here, and a small request can
name any number.
"""
PARTITIONS_AT_ONCE = 10_000
"""Of one topic that one request makes: it takes 15 ms. So has KRaft it since 3.5."""


def place_replicas(
    nodes: Sequence[Node],
    partitions: int,
    replication_factor: int,
    rng: random.Random,
    first_partition: int = 0,
) -> list[list[int]]:
    """Return one replica list per partition, the leader first; leaders rotate from a random broker.

    No rack gets two replicas of a partition while another has none (KIP-36); brokers without a rack
    count as one rack. The caller has checked that there are enough brokers.
    """
    assert 0 < replication_factor <= len(nodes)
    ring = _alternate_racks(nodes)
    start = rng.randrange(len(ring))
    racks = min(len({node.rack for node in nodes}), replication_factor)
    size, others = len(ring), len(ring) - 1

    @cache
    def replicas(leader: int, shift: int) -> list[int]:
        walk = _nodes_from_leader(ring, leader, shift)
        return _spread_over_racks(list(walk), racks, replication_factor)

    return [
        list(replicas((start + index) % size, (index // size) % others if others else 0))
        for index in range(first_partition, first_partition + partitions)
    ]


def place_replicas_live_first(
    live: Sequence[Node],
    stopped: Sequence[Node],
    partitions: int,
    replication_factor: int,
    rng: random.Random,
    first_partition: int = 0,
) -> list[list[int]]:
    """Return one replica list per partition, as `spread`; stopped brokers come last, and only
    where there are too few live ones.
    """
    missing = replication_factor - len(live)
    if missing <= 0:
        return place_replicas(live, partitions, replication_factor, rng, first_partition)
    first = place_replicas(live, partitions, len(live), rng, first_partition)
    last = place_replicas(stopped, partitions, missing, rng, first_partition)
    return [[*some, *others] for some, others in zip(first, last, strict=True)]


def _alternate_racks(nodes: Sequence[Node]) -> list[Node]:
    """Return the brokers in alternating order of racks."""
    of_rack: dict[str | None, list[Node]] = {}
    for node in nodes:
        of_rack.setdefault(node.rack, []).append(node)
    return [node for row in zip_longest(*of_rack.values()) for node in row if node is not None]


def _nodes_from_leader(ring: Sequence[Node], leader: int, shift: int) -> Iterator[Node]:
    """Yield all brokers, the leader first; the followers begin `shift` brokers later."""
    size, others = len(ring), len(ring) - 1
    yield ring[leader]
    for step in range(others):
        yield ring[(leader + 1 + (shift + step) % others) % size]


def _spread_over_racks(walk: Sequence[Node], racks: int, count: int) -> list[int]:
    """Return the first brokers of this number of racks, then the others."""
    first: dict[str | None, Node] = {}
    for node in walk:
        if len(first) < racks:
            first.setdefault(node.rack, node)
    further = [node for node in walk if first.get(node.rack) is not node]
    return [node.node_id for node in [*first.values(), *further][:count]]
