"""OffsetForLeaderEpoch: permissions and repeated partitions, by release."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from tests.shim.play import ADMIN, Stage


def ask(stage: Stage, version: int, who: str, *topics: tuple[str, int]) -> Any:
    rows = [OffsetForLeaderTopic(name, [OffsetForLeaderPartition(index)]) for name, index in topics]
    request = OffsetForLeaderEpochRequest(topics=rows)
    response = stage.ask(ApiKey.OFFSET_FOR_LEADER_EPOCH, version, request, who)
    return [(t.topic, p.partition, p.error_code) for t in response.topics for p in t.partitions]


def test_describe_on_the_topic_is_enough_and_denied_topics_come_last() -> None:
    stage = Stage()
    stage.topic("a")
    stage.topic("b")
    stage.allow("User:alice", Operation.DESCRIBE, ResourceType.TOPIC, "b")
    found = ask(stage, 4, "User:alice", ("a", 0), ("b", 0), ("b", 9))
    assert found == [("b", 0, 0), ("b", 9, 3), ("a", 0, 29)]


def test_cluster_action_allows_every_topic() -> None:
    stage = Stage()
    cluster = ResourceType.CLUSTER, "kafka-cluster"
    stage.allow("User:alice", Operation.CLUSTER_ACTION, *cluster)
    assert ask(stage, 4, "User:alice", ("none", 0)) == [("none", 0, 3)]


def test_up_to_2_0_only_cluster_action_counts() -> None:
    stage = Stage("2.0")
    stage.topic("b")
    stage.allow("User:alice", Operation.DESCRIBE, ResourceType.TOPIC, "b")
    assert ask(stage, 0, "User:alice", ("b", 0)) == [("b", 0, 31)]


@pytest.mark.parametrize(("release", "version", "count"), [("2.7", 3, 1), ("2.8", 4, 2)])
def test_a_repeated_partition_is_returned_twice_since_2_8(
    release: str, version: int, count: int
) -> None:
    stage = Stage(release)
    stage.topic("t")
    assert len(ask(stage, version, ADMIN, ("t", 0), ("t", 0))) == count
