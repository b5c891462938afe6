"""Assignors agree with recorded results of Kafka's own classes (recorded by tests.oracle)."""

import json

import pytest

from tests.oracle.assignors import GOLDEN, is_equal, ours
from tests.oracle.sticky_tasks import TASKS, ours as our_tasks
from tests.recordings.store import read_file

RECORDED = json.loads(read_file(GOLDEN))


@pytest.mark.parametrize("assignor", ["uniform", "range", "share"])
@pytest.mark.parametrize("alike", [True, False])
def test_members_get_the_partitions_that_kafka_assigns(assignor: str, *, alike: bool) -> None:
    wanted = (assignor, alike)
    cases = [
        (asked, response)
        for asked, response in RECORDED["cases"]
        if (asked["assignor"], asked["alike"]) == wanted
    ]
    assert len(cases) > 20
    for asked, response in cases:
        assert is_equal(ours(asked, RECORDED["release"]), response), asked


def test_members_of_streams_groups_get_the_tasks_that_kafka_assigns() -> None:
    cases = json.loads(read_file(TASKS))
    assert len(cases) > 100
    for asked, response in cases:
        assert our_tasks(asked) == response, asked
