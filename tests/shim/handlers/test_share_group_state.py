"""State of share groups (APIs 83-87, KIP-932): responses as recorded from 4.3.1."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages import (
    delete_share_group_state as delete_messages,
    initialize_share_group_state as initialize_messages,
    read_share_group_state as read_messages,
    read_share_group_state_summary as summary_messages,
    write_share_group_state as write_messages,
)
from kafka_shim.shim.state.share_partitions.share_state import IN_FLIGHT_MAX
from tests.shim.play import ADMIN, Stage

UNKNOWN = b"\x77" * 16
FENCED_STATE, FENCED_LEADER, POLICY_VIOLATION = 124, 74, 44
Batch = tuple[int, int, int, int]
"""First offset, last offset, delivery state and delivery count."""


class Share:
    """Sends requests about the state of one group and one topic."""

    def __init__(self) -> None:
        self.stage = Stage()
        self.topic_id = self.stage.topic("t", 2).topic_id

    def ask(self, api: ApiKey, version: int, request: Any, who: str = ADMIN) -> Any:
        (topic,) = self.stage.ask(api, version, request, who).results
        (partition,) = topic.partitions
        return partition

    def initialise(self, partition: int, epoch: int, start: int, topic_id: bytes = b"") -> int:
        m = initialize_messages
        rows = [m.PartitionData(partition, epoch, start)]
        topics = [m.InitializeStateData(topic_id or self.topic_id, rows)]
        request = m.InitializeShareGroupStateRequest("g", topics)
        return int(self.ask(ApiKey.INITIALIZE_SHARE_GROUP_STATE, 0, request).error_code)

    def read(self, partition: int, leader_epoch: int, topic_id: bytes = b"") -> Any:
        m = read_messages
        rows = [m.PartitionData(partition, leader_epoch)]
        topics = [m.ReadStateData(topic_id or self.topic_id, rows)]
        request = m.ReadShareGroupStateRequest("g", topics)
        return self.ask(ApiKey.READ_SHARE_GROUP_STATE, 0, request)

    def summary(self, partition: int, topic_id: bytes = b"") -> Any:
        m = summary_messages
        topics = [m.ReadStateSummaryData(topic_id or self.topic_id, [m.PartitionData(partition)])]
        request = m.ReadShareGroupStateSummaryRequest("g", topics)
        return self.ask(ApiKey.READ_SHARE_GROUP_STATE_SUMMARY, 1, request)

    def write(
        self,
        partition: int,
        epochs: tuple[int, int],
        start: int,
        *batches: tuple[int, int, int, int],
    ) -> int:
        m = write_messages
        rows = [m.StateBatch(*batch) for batch in batches]
        data = m.PartitionData(partition, *epochs, start, state_batches=rows)
        topics = [m.WriteStateData(self.topic_id, [data])]
        request = m.WriteShareGroupStateRequest("g", topics)
        return int(self.ask(ApiKey.WRITE_SHARE_GROUP_STATE, 1, request).error_code)

    def delete(self, partition: int, topic_id: bytes = b"") -> int:
        m = delete_messages
        topics = [m.DeleteStateData(topic_id or self.topic_id, [m.PartitionData(partition)])]
        request = m.DeleteShareGroupStateRequest("g", topics)
        return int(self.ask(ApiKey.DELETE_SHARE_GROUP_STATE, 0, request).error_code)


def batches(response: Any) -> list[tuple[int, int, int, int]]:
    return [
        (batch.first_offset, batch.last_offset, batch.delivery_state, batch.delivery_count)
        for batch in response.state_batches
    ]


def test_partitions_without_state_cannot_be_read_or_written() -> None:
    share = Share()
    assert share.read(0, 0).error_code == 42
    assert share.write(1, (1, 4), 6) == 42
    summary = share.summary(0)
    assert (summary.error_code, summary.start_offset, summary.delivery_complete_count) == (
        0,
        -1,
        -1,
    )
    assert share.delete(0) == 0


def test_unknown_topics_and_partitions_are_rejected() -> None:
    share = Share()
    assert share.initialise(7, 1, 0) == 3
    assert share.initialise(0, 1, 0, UNKNOWN) == 3
    assert share.read(0, 0, UNKNOWN).error_code == 42  # the state is looked up before the topic
    assert share.initialise(-1, 1, 0) == 42
    assert share.summary(0, UNKNOWN).error_code == 3
    assert share.delete(0, UNKNOWN) == 3


def test_the_state_of_a_deleted_topic_is_deleted() -> None:
    share = Share()
    cluster = share.stage.cluster
    for number in range(20):
        topic = share.stage.topic(f"passing-{number}")
        assert share.initialise(0, 1, 0, topic.topic_id) == 0
        cluster.topics.delete_topic(topic.name)
    assert share.initialise(0, 1, 5) == 0
    assert len(cluster.share_states._states) == 1


def test_states_survive_the_deletion_of_their_internal_topic() -> None:
    share = Share()
    for _ in range(2):
        assert share.initialise(0, 1, 5) == 0
    share.stage.cluster.topics.delete_topic("__share_group_state")
    assert share.read(0, 5).start_offset == 5


def test_initializing_again_needs_the_same_or_a_later_state_epoch() -> None:
    share = Share()
    assert share.initialise(0, 1, 5) == 0
    assert share.initialise(0, 0, 5) == FENCED_STATE
    assert share.initialise(0, 1, 9) == 0
    response = share.read(0, 5)
    assert (response.state_epoch, response.start_offset, batches(response)) == (1, 9, [])
    assert share.read(0, 3).error_code == FENCED_LEADER
    assert share.summary(0).leader_epoch == 5


def test_newer_batches_replace_overlapping_older_ones() -> None:
    share = Share()
    share.initialise(0, 1, 5)
    share.read(0, 5)
    assert share.write(0, (1, 5), 6, (6, 9, 0, 1), (10, 12, 2, 1)) == 0
    assert share.write(0, (0, 5), 6) == FENCED_STATE
    assert share.write(0, (1, 4), 6) == FENCED_LEADER
    assert batches(share.read(0, 5)) == [(6, 9, 0, 1), (10, 12, 2, 1)]
    assert share.write(0, (2, 5), 8, (8, 11, 2, 2)) == 0
    response = share.read(0, 5)
    assert (response.state_epoch, response.start_offset) == (1, 8)
    assert batches(response) == [(8, 11, 2, 2), (12, 12, 2, 1)]
    assert share.delete(0) == 0
    assert share.read(0, 5).error_code == 42


def test_the_records_in_flight_of_a_written_state_are_limited() -> None:
    share = Share()
    share.initialise(0, 1, 5)
    start, last = 10, 10 + IN_FLIGHT_MAX
    assert share.write(0, (1, 0), start, (start, last - 1, 0, 1)) == 0
    assert share.write(0, (1, 0), start, (last, last, 0, 1)) == POLICY_VIOLATION
    assert share.write(0, (1, 0), 9) == 0  # a leader does not go back
    assert share.write(0, (1, 0), start + 1, (last, last, 0, 1)) == 0
    assert share.write(0, (1, 0), start + 1, (start, 2**63 - 1, 0, 1)) == POLICY_VIOLATION
    response = share.read(0, 0)
    assert (response.start_offset, batches(response)) == (start + 1, [(start + 1, last, 0, 1)])


@pytest.mark.parametrize(
    ("api", "request_", "allowed"),
    [
        (
            ApiKey.INITIALIZE_SHARE_GROUP_STATE,
            initialize_messages.InitializeShareGroupStateRequest(
                "g",
                [
                    initialize_messages.InitializeStateData(
                        UNKNOWN, [initialize_messages.PartitionData(0)]
                    )
                ],
            ),
            3,
        ),
        (
            ApiKey.READ_SHARE_GROUP_STATE,
            read_messages.ReadShareGroupStateRequest(
                "g", [read_messages.ReadStateData(UNKNOWN, [read_messages.PartitionData(0)])]
            ),
            42,
        ),
        (
            ApiKey.WRITE_SHARE_GROUP_STATE,
            write_messages.WriteShareGroupStateRequest(
                "g", [write_messages.WriteStateData(UNKNOWN, [write_messages.PartitionData(0)])]
            ),
            42,
        ),
        (
            ApiKey.DELETE_SHARE_GROUP_STATE,
            delete_messages.DeleteShareGroupStateRequest(
                "g", [delete_messages.DeleteStateData(UNKNOWN, [delete_messages.PartitionData(0)])]
            ),
            3,
        ),
        (
            ApiKey.READ_SHARE_GROUP_STATE_SUMMARY,
            summary_messages.ReadShareGroupStateSummaryRequest(
                "g",
                [
                    summary_messages.ReadStateSummaryData(
                        UNKNOWN, [summary_messages.PartitionData(0)]
                    )
                ],
            ),
            3,
        ),
    ],
)
def test_cluster_action_is_needed(api: ApiKey, request_: Any, allowed: int) -> None:
    share = Share()
    assert share.ask(api, 0, request_, "User:alice").error_code == 31
    cluster = ResourceType.CLUSTER, "kafka-cluster"
    share.stage.allow("User:alice", Operation.CLUSTER_ACTION, *cluster)
    assert share.ask(api, 0, request_, "User:alice").error_code == allowed
