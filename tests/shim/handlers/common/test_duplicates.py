"""Responses to requests that repeat topics or partitions, by release."""

from collections import Counter

import pytest

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from kafka_shim.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
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
from kafka_shim.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from kafka_shim.shim.handlers.common.duplicates import deduplicate_by_topic
from tests.shim.handlers.records import ALICE
from tests.shim.play import Stage


def test_the_last_entry_of_a_partition_counts() -> None:
    rows = [("a", 0, "first"), ("b", 0, "other"), ("a", 1, "more"), ("a", 0, "last")]
    assert dict(deduplicate_by_topic(rows)) == {"a": ["last", "more"], "b": ["other"]}


@pytest.mark.parametrize(("release", "counts"), [("3.3", [2]), ("3.5", [2, 1, 1])])
def test_a_denied_add_partitions_returns_repeated_topics_since_3_5(
    release: str, counts: list[int]
) -> None:
    topics = [AddPartitionsToTxnTopic("t", [0, 1])] + [AddPartitionsToTxnTopic("t", [0])] * 2
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id="x", v3_and_below_topics=topics
    )
    response = Stage(release).ask(ApiKey.ADD_PARTITIONS_TO_TXN, 0, request, ALICE)
    found = [len(result.results_by_partition) for result in response.results_by_topic_v3_and_below]
    assert found == counts


@pytest.mark.parametrize("release", ["0.11", "2.8", "4.3"])
def test_delete_records_returns_repeated_partitions_once(release: str) -> None:
    stage = Stage(release)
    stage.topic("t")
    topic = DeleteRecordsTopic("t", [DeleteRecordsPartition(0, 0), DeleteRecordsPartition(7, 0)])
    request = DeleteRecordsRequest(topics=[topic, topic], timeout_ms=1)
    version = stage.dispatcher.apis.advertised[ApiKey.DELETE_RECORDS][1]
    (response,) = stage.ask(ApiKey.DELETE_RECORDS, version, request).topics
    assert [
        (partition.partition_index, partition.error_code) for partition in response.partitions
    ] == [(0, 0), (7, 3)]


@pytest.mark.parametrize(("release", "count"), [("2.2", 1), ("2.3", 2)])
def test_a_denied_commit_returns_repeated_partitions_since_2_3(release: str, count: int) -> None:
    topic = OffsetCommitRequestTopic(name="t", partitions=[OffsetCommitRequestPartition()] * 2)
    request = OffsetCommitRequest(group_id="g", topics=[topic])
    response = Stage(release).ask(ApiKey.OFFSET_COMMIT, 2, request, ALICE)
    assert [partition.error_code for partition in response.topics[0].partitions] == [30] * count


@pytest.mark.parametrize(
    ("release", "committed", "failed"), [("3.4", 1, 1), ("3.5", 1, 2), ("4.0", 2, 2)]
)
def test_a_commit_returns_repeated_partitions_once_or_twice(
    release: str, committed: int, failed: int
) -> None:
    stage = Stage(release)
    stage.topic("one")
    topics = [
        OffsetCommitRequestTopic(name=name, partitions=[OffsetCommitRequestPartition()] * 2)
        for name in ("one", "missing")
    ]
    request = OffsetCommitRequest(
        group_id="g", generation_id_or_member_epoch=-1, member_id="", topics=topics
    )
    response = stage.ask(ApiKey.OFFSET_COMMIT, 2, request)
    found = {topic.name: [row.error_code for row in topic.partitions] for topic in response.topics}
    assert found == {"one": [0] * committed, "missing": [3] * failed}


@pytest.mark.parametrize(("release", "count"), [("2.6", 1), ("2.7", 2)])
def test_denied_log_dirs_return_repeated_partitions_since_2_7(release: str, count: int) -> None:
    moved = AlterReplicaLogDir(path="/x", topics=[AlterReplicaLogDirTopic("t", [0, 0])])
    request = AlterReplicaLogDirsRequest(dirs=[moved])
    response = Stage(release).ask(ApiKey.ALTER_REPLICA_LOG_DIRS, 1, request, ALICE)
    assert [partition.error_code for partition in response.results[0].partitions] == [31] * count


@pytest.mark.parametrize(
    ("release", "allowed", "denied"), [("2.6", 1, 1), ("2.7", 2, 2), ("4.0", 1, 2)]
)
def test_list_offsets_returns_repeated_topics_once_or_twice(
    release: str, allowed: int, denied: int
) -> None:
    stage = Stage(release)
    stage.allow(ALICE, Operation.READ, ResourceType.TOPIC, "mine")
    topics = [
        ListOffsetsTopic(name, [ListOffsetsPartition(0, timestamp=-1)])
        for name in ("mine", "others") * 2
    ]
    request = ListOffsetsRequest(replica_id=-1, topics=topics)
    response = stage.ask(ApiKey.LIST_OFFSETS, 1, request, ALICE)
    assert Counter(topic.name for topic in response.topics) == {"mine": allowed, "others": denied}


def marker(producer_id: int, *topics: str) -> WritableTxnMarker:
    rows = [WritableTxnMarkerTopic(name, [0]) for name in topics]
    return WritableTxnMarker(producer_id=producer_id, transaction_result=True, topics=rows)


def test_markers_of_one_producer_are_merged_but_if_denied_only_the_last_is_returned() -> None:
    stage = Stage("2.8")
    stage.topic("one")
    request = WriteTxnMarkersRequest(markers=[marker(7, "one"), marker(8), marker(7, "two")])
    response = stage.ask(ApiKey.WRITE_TXN_MARKERS, 1, request)
    codes = [(topic.name, topic.partitions[0].error_code) for topic in response.markers[0].topics]
    assert (len(response.markers), codes) == (1, [("one", 0), ("two", 3)])
    response = stage.ask(ApiKey.WRITE_TXN_MARKERS, 1, request, ALICE)
    found = {
        marker.producer_id: [topic.name for topic in marker.topics] for marker in response.markers
    }
    assert found == {7: ["two"], 8: []}
