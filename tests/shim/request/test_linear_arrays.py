"""Long arrays in requests cost linear time: no request is quadratic in its own size.

Lines of code are counted, not seconds: a million of them take about 150 ms.
"""

from contextlib import suppress
from functools import cache

import pytest

from benchmarks.arrays.cluster import USERS, advertised, new_cluster
from benchmarks.arrays.messages import Case, cases
from kafka_shim.shim.errors import CloseConnection
from tests.support.counted_work import count_work

WORK_MAX = 1.6
"""Factor by which the lines for each byte may grow in a request four times as large."""
BYTES = 4 * 1024
MORE_BYTES = {"TxnOffsetCommit": 32 * 1024, "StreamsGroupHeartbeat": 32 * 1024}
"""Sizes for APIs that do something for their first elements only: at most a thousand offsets or
topics of a topology have records, so a request must have more.
"""
NEWEST = ""
KNOWN = {
    "OffsetDelete 0 topics",
    "OffsetFetch 10 groups.topics",
    "CreateAcls 3 creations",
    "IncrementalAlterConfigs 1 resources",
    "AlterClientQuotas 1 entries",
    "DescribeShareGroupOffsets 1 groups.topics",
    "DeleteAcls 3 filters",
    "WriteTxnMarkers 2 markers.topics",
    "AddPartitionsToTxn 5 transactions.topics",
    "AlterShareGroupOffsets 0 topics",
    "ConsumerGroupHeartbeat 1 subscribed_topic_names",
    "Fetch 18 topics.partitions",
    "DeleteTopics 6 topics",
    "JoinGroup 9 protocols",
    "DescribeLogDirs 5 topics",
    "DescribeLogDirs 5 topics.partitions",
    "ShareAcknowledge 2 topics.partitions equal",
    "ShareFetch 2 topics.partitions",
    "ShareGroupHeartbeat 1 subscribed_topic_names",
    "StreamsGroupHeartbeat 1 topology.subtopologies",
    "StreamsGroupHeartbeat 1 topology.subtopologies.source_topics",
    "WriteShareGroupState 1 topics.partitions.state_batches",
}
"""Arrays that once took 50 to 960 ms in a request of 1 MiB."""
OLD = {
    ("0.11", "OffsetCommit 3 topics.partitions"),
    ("2.4", "AlterPartitionReassignments 0 topics.partitions"),
    ("2.4", "OffsetDelete 0 topics"),
    ("2.4", "OffsetDelete 0 topics.partitions"),
    ("2.4", "CreateAcls 1 creations"),
    ("2.4", "OffsetForLeaderEpoch 3 topics.partitions"),
    ("2.8", "AlterUserScramCredentials 0 deletions equal"),
    ("3.6", "Produce 9 topic_data.partition_data equal"),
}
"""Such arrays in older releases."""


@cache
def found(release: str) -> dict[str, Case]:
    return {
        case.name: case
        for api, (_, version) in sorted(advertised(release).items())
        for case in cases(api, version)
    }


def counted(case: Case, user: str, release: str, size: int) -> tuple[int, int]:
    """Return the bytes of a request, and the lines that it runs."""
    elements = case.elements(size)
    frame = case.frame(elements)
    dispatcher, session = new_cluster(case, user, elements, release)

    def dispatch() -> None:
        with suppress(CloseConnection):
            dispatcher.dispatch(frame, session)

    return len(frame), count_work(dispatch, "line")


def growth(case: Case, user: str, release: str, size: int) -> float:
    """Return the factor by which a byte costs more in a request four times as large."""
    small, work = counted(case, user, release, size)
    large, more_work = counted(case, user, release, 4 * size)
    return more_work / large / (work / small)


def check(case: Case, user: str, release: str) -> None:
    size = MORE_BYTES.get(case.api.wire_name, BYTES)
    times = growth(case, user, release, size)
    if times >= WORK_MAX:  # compaction, for example, begins at some size
        times = growth(case, user, release, 4 * size)
    assert times < WORK_MAX, f"{case.name}, {user}: a byte costs {times:.1f} times the lines"


@pytest.mark.parametrize(
    ("release", "name"), [*((NEWEST, name) for name in sorted(KNOWN)), *sorted(OLD)]
)
def test_arrays_that_once_took_long_cost_linear_time(release: str, name: str) -> None:
    for user in USERS[:1] if release == NEWEST else USERS:
        check(found(release)[name], user, release)


@pytest.mark.heavy
@pytest.mark.parametrize("release", ["0.11", "2.4", "2.8", "3.6", "4.0", NEWEST])
def test_every_array_of_every_api_costs_linear_time(release: str) -> None:
    for case in found(release).values():
        for user in USERS:
            check(case, user, release)
