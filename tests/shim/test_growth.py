"""No small request costs more beside much state, neither in memory nor with a data directory.

`python -m benchmarks.growth` shows the curves.
"""

from collections.abc import Mapping

import pytest

from benchmarks.growth import growing_probes
from kafka_shim.shim.state.topics import Topic, Topics


@pytest.mark.parametrize("with_data_dir", [False, True], ids=["memory", "data-dir"])
def test_small_requests_cost_the_same_beside_much_state(with_data_dir: bool) -> None:
    growing = growing_probes(30, 120, with_data_dir=with_data_dir)
    assert growing == {}, growing


LISTING: Mapping[str, str] = {
    "ListGroups": "lists all",
    "ListTransactions": "lists all",
    "ListConfigResources": "lists all topics",
    "DescribeUserScramCredentials": "lists all",
    "DescribeDelegationToken": "lists all",
    "DescribeClientQuotas": "also finds entities with further parts, since it is not strict",
    "DescribeQuorum": "all faults of the state are about this API",
}
"""The valid requests that may cost more beside more state."""


@pytest.mark.parametrize("with_data_dir", [False, True], ids=["memory", "data-dir"])
def test_only_what_lists_all_costs_more_beside_much_state(with_data_dir: bool) -> None:
    growing = growing_probes(10, 40, with_data_dir=with_data_dir, of_every_api=True)
    assert growing.keys() == LISTING.keys(), growing


def test_a_cost_that_grows_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    get = Topics.get

    def look_at_all(topics: Topics, name: str | None) -> Topic | None:
        return get(topics, name) if any(topic.name == name for topic in topics) else None

    monkeypatch.setattr(Topics, "get", look_at_all)
    monkeypatch.setattr(
        Topics, "__iter__", lambda topics: reversed(topics._mapping_schema.values())
    )
    growing = growing_probes(5, 80, with_data_dir=False, kinds=["topics"])
    assert "OffsetCommit" in growing
