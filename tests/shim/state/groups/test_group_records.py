"""Records of `__consumer_offsets` are made when somebody looks; unread ones stay few."""

from typing import Any

import pytest

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.delete_groups import DeleteGroupsRequest
from kafka_shim.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_shim.protocol.messages.offset_commit_key import OffsetCommitKey
from kafka_shim.protocol.messages.offset_commit_value import OffsetCommitValue
from kafka_shim.protocol.records.batches import Record, iterate_batches
from kafka_shim.shim.dispatching.dispatcher import PendingExchange
from kafka_shim.shim.state.coordinators import KeyType
from kafka_shim.shim.state.groups import group_log, group_records, groups
from kafka_shim.shim.state.groups.offsets import CommittedOffset
from kafka_shim.shim.state.lazy_partition import LazyPartition
from kafka_shim.shim.state.logs.log import PartitionLog
from tests.shim.play import Stage
from tests.support.record_requests import fetch_request

TOPIC = "__consumer_offsets"
VERSION = 8


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A cluster that keeps few notes and few records."""
    monkeypatch.setattr(group_records, "NOTES_MAX", 20)
    monkeypatch.setattr(group_records, "ROOM", 100)
    monkeypatch.setattr(group_log, "RECORDS_MAX", 300)
    stage = Stage("4.4", properties={"offsets.topic.num.partitions": "1"})
    stage.topic("orders", 50)
    stage.cluster.coordinators.get_or_create_topic(KeyType.GROUP)
    return stage


def commit(stage: Stage, group: str, *offsets: tuple[int, int], **more: Any) -> None:
    rows = [OffsetCommitRequestPartition(index, offset) for index, offset in offsets]
    topics = [OffsetCommitRequestTopic("orders", partitions=rows)]
    version = more.pop("version", VERSION)
    request = OffsetCommitRequest(group_id=group, topics=topics, **more)
    response = stage.ask(ApiKey.OFFSET_COMMIT, version, request)
    assert not any(row.error_code for row in response.topics[0].partitions)


def partition_of(stage: Stage) -> LazyPartition:
    (partition,) = stage.cluster.coordinators.get_or_create_topic(KeyType.GROUP).partitions
    assert isinstance(partition, LazyPartition)
    return partition


def records(log: PartitionLog) -> list[Record]:
    return [
        record
        for stored in log.batches
        for batch in iterate_batches(stored.payload)
        if not batch.is_control
        for record in batch.records()
    ]


def last_values(log: PartitionLog) -> dict[tuple[str, str, int], int | None]:
    """Return what a reader takes for the committed offsets."""
    found: dict[tuple[str, str, int], int | None] = {}
    for record in records(log):
        assert record.key is not None
        if record.key[:2] != b"\0\1":
            continue
        key = codecs.read_message(OffsetCommitKey, 0, record.key, 2)
        value = None
        if record.value is not None:
            version = int.from_bytes(record.value[:2], "big")
            value = codecs.read_message(OffsetCommitValue, version, record.value, 2).offset
        found[key.group, key.topic, key.partition] = value
    return found


def notes(stage: Stage) -> int:
    """Return the number of unread notes and records."""
    found = stage.cluster.groups.records
    kept = sum(len(unread.kept) + len(unread.changes) for unread in found._unread.values())
    return len(found.new) // group_records.ITEMS + kept


def test_a_commit_makes_no_record_until_somebody_looks(stage: Stage) -> None:
    commit(stage, "g", (0, 1), (1, 2))
    partition = partition_of(stage)
    assert partition.log_without_flush.end_offset == 0
    assert partition.log.end_offset == 2
    assert last_values(partition.log) == {("g", "orders", 0): 1, ("g", "orders", 1): 2}


def test_many_commits_of_a_partition_leave_few_notes(stage: Stage) -> None:
    for offset in range(1000):
        commit(stage, "g", (0, offset))
        assert notes(stage) <= 25
    log = partition_of(stage).log
    assert log.end_offset == 1000
    assert last_values(log) == {("g", "orders", 0): 999}
    offsets = [record.offset for record in records(log)]
    assert offsets == sorted(set(offsets))
    assert offsets[-1] == 999


def test_the_last_offset_of_each_partition_is_kept(stage: Stage) -> None:
    for turn in range(5):
        for index in range(50):
            commit(stage, f"g{index % 3}", (index, turn * 100 + index), (49 - index, turn))
    log = partition_of(stage).log
    assert log.end_offset == 500
    expected = {
        (group.group_id, "orders", partition): offset.offset
        for group in stage.cluster.groups
        for _, offsets in stage.cluster.groups.offsets.offsets_by_topic(group.group_id)
        for partition, offset in offsets.items()
    }
    assert last_values(log) == expected


def test_what_is_left_of_many_records_has_their_times(stage: Stage) -> None:
    for index in range(50):
        commit(stage, "g", (index, 1))
        stage.clock.advance(10)
    for stored in partition_of(stage).log.batches:
        (batch,) = iterate_batches(stored.payload)
        times = [record.timestamp for record in batch.records()]
        assert times == sorted(times)
        assert stored.max_timestamp == batch.max_timestamp == times[-1]
    times = [record.timestamp for record in records(partition_of(stage).log)]
    assert len(set(times)) == 50


def test_tombstones_are_kept_for_those_who_have_read(stage: Stage) -> None:
    def delete(group: str) -> None:
        commit(stage, group, (0, 1))
        stage.ask(ApiKey.DELETE_GROUPS, 2, DeleteGroupsRequest([group]))

    for number in range(100):
        delete(f"unread{number}")
        assert notes(stage) <= 25
    commit(stage, "read", (0, 1))
    assert last_values(partition_of(stage).log)["read", "orders", 0] == 1
    stage.ask(ApiKey.DELETE_GROUPS, 2, DeleteGroupsRequest(["read"]))
    for offset in range(100):
        commit(stage, "g", (0, offset))
    assert last_values(partition_of(stage).log)["read", "orders", 0] is None


def test_a_log_that_is_read_all_the_time_is_compacted(stage: Stage) -> None:
    log = partition_of(stage).log
    for offset in range(1000):
        commit(stage, "g", (0, offset))
        assert partition_of(stage).log is log
        assert log.end_offset == offset + 1
        assert len(log.batches) <= 300
    assert last_values(log) == {("g", "orders", 0): 999}


def test_a_log_of_many_groups_keeps_the_newest_ones(stage: Stage) -> None:
    for number in range(1000):
        commit(stage, f"g{number}", (0, number))
        assert partition_of(stage).log.end_offset == number + 1
    left = records(partition_of(stage).log)
    assert 150 <= len(left) <= 300
    assert [record.offset for record in left] == list(range(1000 - len(left), 1000))
    assert partition_of(stage).log.start_offset == left[0].offset


def test_of_many_unread_groups_the_newest_ones_are_kept(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_records, "KEPT_MAX", 40)
    for number in range(1000):
        commit(stage, f"g{number}", (0, number))
        assert notes(stage) <= 65
    left = records(partition_of(stage).log)
    assert 40 <= len(left) <= 60
    assert [record.offset for record in left] == list(range(1000 - len(left), 1000))


def test_a_large_commit_leaves_few_notes(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "ROOM", group_records.ROOM)
    most = 0
    count = stage.cluster.groups.offsets.store_offset

    def committed(*args: Any) -> CommittedOffset:
        nonlocal most
        most = max(most, len(stage.cluster.groups.records.new))
        return count(*args)

    monkeypatch.setattr(stage.cluster.groups.offsets, "store_offset", committed)
    for number in range(2):
        commit(stage, "g", *((index, number) for index in range(50)))
    assert 0 < most <= group_records.ROOM
    assert last_values(partition_of(stage).log) == {("g", "orders", at): 1 for at in range(50)}


def test_deletions_of_many_offsets_have_few_tombstones(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_records, "AT_ONCE_MAX", 10)
    assert partition_of(stage).log.end_offset == 0
    commit(stage, "g", *((index, 1) for index in range(50)))
    assert partition_of(stage).log.end_offset == 50
    stage.ask(ApiKey.DELETE_GROUPS, 2, DeleteGroupsRequest(["g"]))
    assert partition_of(stage).log.end_offset == 50 + 10 + 1  # with that of the group


def fetch(stage: Stage, offset: int) -> Any:
    request = fetch_request(TOPIC, offset=offset, max_wait_ms=10_000, min_bytes=1)
    return stage.ask(ApiKey.FETCH, 12, request)


def test_a_waiting_fetch_gets_the_next_commit(stage: Stage) -> None:
    commit(stage, "g", (0, 1))
    for offset in (1, 2):
        pending = fetch(stage, offset)
        assert isinstance(pending, PendingExchange)
        commit(stage, "g", (0, offset + 1))
        response = stage.outcome(ApiKey.FETCH, 12, pending)
        (batch,) = iterate_batches(response.responses[0].partitions[0].records)
        assert batch.base_offset == offset
    commit(stage, "g", (0, 9))
    assert partition_of(stage).log_without_flush.end_offset == 3  # nobody waits


def test_a_waiting_fetch_gets_deletions(stage: Stage) -> None:
    commit(stage, "g", (0, 1))
    pending = fetch(stage, 1)
    stage.ask(ApiKey.DELETE_GROUPS, 2, DeleteGroupsRequest(["g"]))
    stage.clock.advance(1)
    response = stage.outcome(ApiKey.FETCH, 12, pending)
    (batch,) = iterate_batches(response.responses[0].partitions[0].records)
    assert batch.record_count == 2


def test_periodic_work_of_brokers_makes_no_records(stage: Stage) -> None:
    commit(stage, "g", (0, 1))
    assert partition_of(stage).log.end_offset == 1
    commit(stage, "g", (0, 2))
    stage.clock.advance(3_600_000)
    assert partition_of(stage).log_without_flush.end_offset == 1


def test_a_new_topic_of_groups_has_no_old_records(stage: Stage) -> None:
    stage.cluster.groups.find_current("g")
    commit(stage, "g", (0, 1))
    stage.cluster.topics.delete_topic(TOPIC)
    assert partition_of(stage).log.end_offset == 0
    commit(stage, "g", (0, 2))
    assert last_values(partition_of(stage).log) == {("g", "orders", 0): 2}


def test_offsets_of_a_deleted_topic_have_its_name(stage: Stage) -> None:
    commit(stage, "g", (0, 1))
    stage.cluster.topics.delete_topic("orders")
    log = partition_of(stage).log
    assert last_values(log) == {("g", "orders", 0): None}
    assert log.end_offset == 2


def test_commits_before_the_topic_exists_are_written_when_it_does() -> None:
    stage = Stage("4.4")
    stage.topic("orders")
    commit(stage, "g", (0, 1))
    assert TOPIC not in stage.cluster.topics
    partition = stage.cluster.coordinators.coordinator_partition_creating_topic(KeyType.GROUP, "g")
    assert last_values(partition.log) == {("g", "orders", 0): 1}


def test_a_retention_is_kept_with_its_offset(stage: Stage) -> None:
    commit(stage, "g", (0, 1), version=4, retention_time_ms=5_000)
    for offset in range(100):
        commit(stage, "h", (0, offset))
    first = records(partition_of(stage).log)[0]
    assert first.value is not None
    value = codecs.read_message(OffsetCommitValue, 1, first.value, 2)
    assert value.expire_timestamp - value.commit_timestamp == 5_000


def test_an_expiry_beyond_64_bits_wraps_around_as_in_java(stage: Stage) -> None:
    commit(stage, "g", (0, 1), version=4, retention_time_ms=2**63 - 1)
    (record,) = records(partition_of(stage).log)
    assert record.value is not None
    value = codecs.read_message(OffsetCommitValue, 1, record.value, 2)
    assert value.expire_timestamp == value.commit_timestamp - 2**63 - 1
