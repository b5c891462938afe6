"""Replicas of new partitions are spread evenly."""

import random
from collections import Counter

from hypothesis import given, strategies as st

from kafka_shim.shim.state.placement import spread


@given(st.integers(1, 9), st.integers(1, 40), st.integers(1, 9), st.integers(0, 99))
def test_leaders_and_replicas_are_even(
    brokers: int, partitions: int, factor: int, seed: int
) -> None:
    factor = min(factor, brokers)
    nodes = list(range(1, brokers + 1))
    assignments = spread(nodes, partitions, factor, random.Random(seed))
    assert len(assignments) == partitions
    assert all(len(set(replicas)) == factor for replicas in assignments)
    for counts in (
        Counter(replicas[0] for replicas in assignments),
        Counter(node for replicas in assignments for node in replicas),
    ):
        held = [counts[node] for node in nodes]
        assert max(held) - min(held) <= factor


def test_the_same_seed_places_the_same() -> None:
    first = spread([1, 2, 3], 5, 2, random.Random(7))
    assert first == spread([1, 2, 3], 5, 2, random.Random(7))
