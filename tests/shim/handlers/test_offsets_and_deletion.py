"""ListOffsets and DeleteRecords: permissions, leaders and unreadable batches."""

import pytest

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kafka_shim.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kafka_shim.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_shim.protocol.records import compression
from tests.recordings.records.batches import ZSTD, batch
from tests.shim.handlers.records import ALICE, produce
from tests.shim.play import ADMIN, Stage


def listed(
    stage: Stage, *topics: str, version: int = 3, timestamp: int = -1, principal: str = ALICE
) -> list[tuple[str, int, int]]:
    """Return topic, error code and offset of each partition 0, in the order of the response."""
    partition = ListOffsetsPartition(0, timestamp=timestamp)
    request = ListOffsetsRequest(
        -1, topics=[ListOffsetsTopic(name, [partition]) for name in topics]
    )
    response = stage.ask(ApiKey.LIST_OFFSETS, version, request, principal)
    return [
        (topic.name, topic.partitions[0].error_code, topic.partitions[0].offset)
        for topic in response.topics
    ]


def deleted(stage: Stage, *topics: str) -> dict[str, int]:
    partition = DeleteRecordsPartition(0, -1)
    request = DeleteRecordsRequest(
        topics=[DeleteRecordsTopic(name, [partition]) for name in topics]
    )
    response = stage.ask(ApiKey.DELETE_RECORDS, 0, request, ALICE)
    return {topic.name: topic.partitions[0].error_code for topic in response.topics}


def test_only_debugging_consumers_list_offsets_of_followers() -> None:
    """Recorded from 4.3.1, with a second broker registered."""
    stage = Stage(brokers=2)
    stage.cluster.topics.create_topic("t", [[2], [1], [2, 1]], {})
    rows = [ListOffsetsPartition(index, timestamp=-1) for index in range(3)]
    codes = {}
    for replica_id in (-2, -1, 1, 7):
        request = ListOffsetsRequest(replica_id, topics=[ListOffsetsTopic("t", rows)])
        (topic,) = stage.ask(ApiKey.LIST_OFFSETS, 7, request).topics
        codes[replica_id] = [row.error_code for row in topic.partitions]
    assert codes == {-2: [6, 0, 0], -1: [6, 0, 6], 1: [6, 0, 6], 7: [6, 0, 6]}


@pytest.mark.parametrize("release", ["1.0", "2.7", ""])
def test_denied_topics_come_last_whether_they_exist_or_not(release: str) -> None:
    stage = Stage(release)
    for name in ("mine", "others"):
        stage.topic(name)
    stage.allow(ALICE, Operation.DESCRIBE, ResourceType.TOPIC, "mine")
    stage.allow(ALICE, Operation.DESCRIBE, ResourceType.TOPIC, "gone")
    found = listed(stage, "others", "missing", "mine", "gone", version=1)
    assert found == [("mine", 0, 0), ("gone", 3, -1), ("others", 29, -1), ("missing", 29, -1)]


def test_0_11_reports_denied_topics_as_unknown() -> None:
    stage = Stage("0.11")
    stage.topic("others")
    assert listed(stage, "others", "missing", version=1) == [("others", 3, -1), ("missing", 3, -1)]


@pytest.mark.parametrize("release", ["1.0", ""])
def test_deleting_records_needs_delete_on_the_topic(release: str) -> None:
    stage = Stage(release)
    for name in ("mine", "others"):
        stage.topic(name)
    for name in ("mine", "gone"):
        stage.allow(ALICE, Operation.DELETE, ResourceType.TOPIC, name)
    codes = {"mine": 0, "others": 29, "missing": 29, "gone": 3}
    assert deleted(stage, "mine", "others", "missing", "gone") == codes


def test_0_11_reports_topics_without_describe_as_unknown() -> None:
    stage = Stage("0.11")
    for name in ("mine", "others", "hidden"):
        stage.topic(name)
    stage.allow(ALICE, Operation.DELETE, ResourceType.TOPIC, "mine")
    stage.allow(ALICE, Operation.DESCRIBE, ResourceType.TOPIC, "others")
    assert deleted(stage, "mine", "others", "hidden") == {"mine": 0, "others": 29, "hidden": 3}


def test_a_lookup_by_time_returns_the_first_offset_of_an_unreadable_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(compression._MODULES, compression.Compression.ZSTD, "no_such_module")
    stage = Stage()
    stage.topic("t")
    produce(stage, "t", records=batch([b"a" * 5000], times=[1000]))
    produce(stage, "t", records=batch([b"b" * 5000, b"c"], times=[2000, 3000], attributes=ZSTD))
    at = {time: listed(stage, "t", timestamp=time, principal=ADMIN)[0][2] for time in (1, 2500)}
    assert at == {1: 0, 2500: 1}


def test_only_the_leader_lists_offsets() -> None:
    stage = Stage(brokers=2)
    stage.cluster.topics.create_topic("t", [[2, 1]], {})
    assert listed(stage, "t", principal=ADMIN) == [("t", 6, -1)]
    stage.session(ADMIN).node_id = 2
    assert listed(stage, "t", principal=ADMIN) == [("t", 0, 0)]


# a denied group returns each topic of the request (seen on 4.3.1)
def test_a_repeated_topic_is_returned_twice() -> None:
    topic = OffsetCommitRequestTopic(
        topic_id=b"\x33" * 16, partitions=[OffsetCommitRequestPartition(partition_index=0)]
    )
    request = OffsetCommitRequest(group_id="g", topics=[topic, topic])
    response = Stage().ask(ApiKey.OFFSET_COMMIT, 10, request, "User:alice")
    assert [[partition.error_code for partition in t.partitions] for t in response.topics] == [
        [30],
        [30],
    ]
