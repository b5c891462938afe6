"""Replicas of new partitions are spread evenly."""

import random
from collections import Counter

from hypothesis import given, strategies as st

from kafka_shim.shim.state.node import Node
from kafka_shim.shim.state.placement import place_replicas


@given(st.integers(1, 9), st.integers(1, 40), st.integers(1, 9), st.integers(0, 99))
def test_leaders_and_replicas_are_spread_evenly(
    brokers: int, partitions: int, factor: int, seed: int
) -> None:
    factor = min(factor, brokers)
    nodes = range(1, brokers + 1)
    assignments = place_replicas(
        [Node(node_id, None) for node_id in nodes], partitions, factor, random.Random(seed)
    )
    assert len(assignments) == partitions
    assert all(len(set(replicas)) == factor for replicas in assignments)
    for counts in (
        Counter(replicas[0] for replicas in assignments),
        Counter(node for replicas in assignments for node in replicas),
    ):
        held = [counts[node] for node in nodes]
        assert max(held) - min(held) <= factor


def test_the_same_seed_gives_the_same_placement() -> None:
    nodes = [Node(node_id, None) for node_id in (1, 2, 3)]
    assert place_replicas(nodes, 5, 2, random.Random(7)) == place_replicas(
        nodes, 5, 2, random.Random(7)
    )


@given(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=9), st.data())
def test_no_rack_has_two_replicas_while_another_has_none(
    racks: list[str | None], data: st.DataObject
) -> None:
    nodes = [Node(node_id, rack) for node_id, rack in enumerate(racks)]
    factor = data.draw(st.integers(1, len(nodes)))
    for replicas in place_replicas(nodes, 12, factor, random.Random(1)):
        assert len(set(replicas)) == factor
        assert len({racks[node_id] for node_id in replicas}) == min(factor, len(set(racks)))


def test_racks_of_the_same_size_have_equally_many_replicas() -> None:
    nodes = [Node(node_id, "ab"[node_id % 2]) for node_id in range(4)]
    held = Counter(
        node_id
        for replicas in place_replicas(nodes, 24, 2, random.Random(1))
        for node_id in replicas
    )
    assert set(held.values()) == {12}
