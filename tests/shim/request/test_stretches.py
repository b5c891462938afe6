"""Long arrays in requests do not block other clients, and cost linear time.

Lines of code are counted, not seconds: a million of them take about 150 ms.
"""

from functools import cache

import pytest

from benchmarks.arrays.cluster import USERS, advertised, new_cluster
from benchmarks.arrays.messages import Case, cases
from tests.shim.request.stretches import Stretches

STRETCH_MAX = 0.25
"""Lines by which the longest stretch may grow for each further byte of the request."""
AT_ONCE = {
    "TxnOffsetCommit": 0.5,
    "WriteShareGroupState": 0.6,
}
"""Larger limits for APIs whose effects must appear at once, such as a transaction's offsets."""
WORK_MAX = 1.6
"""Factor by which the lines for each byte may grow in a request four times as large."""
BYTES = 4 * 1024
MORE_BYTES = {"TxnOffsetCommit": 32 * 1024, "StreamsGroupHeartbeat": 32 * 1024}
"""Sizes for APIs that do something at once for their first elements only: at most a thousand
offsets or topics of a topology have records, so a request must have more.
"""
LINES_MAX = 200_000
"""Lines of a stretch, about 30 ms."""
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
"""Arrays that once blocked the loop for 50 to 960 ms in a request of 1 MiB."""
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


def counted(case: Case, user: str, release: str, size: int) -> tuple[int, int, int]:
    """Return the bytes of a request, the lines of its longest stretch, and all its lines."""
    elements = case.elements(size)
    frame = case.frame(elements)
    dispatcher, session = new_cluster(case, user, elements, release)
    stretches = Stretches(dispatcher, frame, session)
    stretches.run()
    return len(frame), stretches.longest, stretches.lines


def growth(case: Case, user: str, release: str, size: int) -> tuple[float, float]:
    """Return the lines by which a byte lengthens a stretch, and the factor of a byte's cost."""
    small, stretch, work = counted(case, user, release, size)
    large, longer_stretch, more_work = counted(case, user, release, 4 * size)
    assert longer_stretch < LINES_MAX, f"{case.name}, {user}: {longer_stretch} lines at once"
    return (longer_stretch - stretch) / (large - small), more_work / large / (work / small)


def check(case: Case, user: str, release: str) -> None:
    limit = AT_ONCE.get(case.api.wire_name, STRETCH_MAX)
    size = MORE_BYTES.get(case.api.wire_name, BYTES)
    slope, times = growth(case, user, release, size)
    if slope >= limit:  # the first request may have imported modules
        slope, times = growth(case, user, release, size)
    if times >= WORK_MAX:  # compaction, for example, begins at some size
        times = growth(case, user, release, 4 * size)[1]
    assert slope < limit, f"{case.name}, {user}: a stretch grows by {slope:.2f} lines a byte"
    assert times < WORK_MAX, f"{case.name}, {user}: a byte costs {times:.1f} times the lines"


@pytest.mark.parametrize(
    ("release", "name"), [*((NEWEST, name) for name in sorted(KNOWN)), *sorted(OLD)]
)
def test_arrays_that_once_blocked_the_loop_do_not(release: str, name: str) -> None:
    for user in USERS[:1] if release == NEWEST else USERS:
        check(found(release)[name], user, release)


@pytest.mark.heavy
@pytest.mark.parametrize("release", ["0.11", "2.4", "2.8", "3.6", "4.0", NEWEST])
def test_no_array_of_any_api_blocks_the_loop(release: str) -> None:
    for case in found(release).values():
        for user in USERS:
            check(case, user, release)
