"""API 23: permissions by release, and how often a partition is answered."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from tests.shim.play import ADMIN, Stage


def ask(stage: Stage, version: int, who: str, *topics: tuple[str, int]) -> Any:
    rows = [OffsetForLeaderTopic(name, [OffsetForLeaderPartition(index)]) for name, index in topics]
    request = OffsetForLeaderEpochRequest(topics=rows)
    answer = stage.ask(ApiKey.OFFSET_FOR_LEADER_EPOCH, version, request, who)
    return [(t.topic, p.partition, p.error_code) for t in answer.topics for p in t.partitions]


def test_describe_on_a_topic_is_enough_and_denied_topics_stand_last() -> None:
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


def test_the_oldest_releases_ask_for_cluster_action_alone() -> None:
    stage = Stage("2.0")
    stage.topic("b")
    stage.allow("User:alice", Operation.DESCRIBE, ResourceType.TOPIC, "b")
    assert ask(stage, 0, "User:alice", ("b", 0)) == [("b", 0, 31)]


@pytest.mark.parametrize(("release", "version", "count"), [("2.7", 3, 1), ("2.8", 4, 2)])
def test_a_partition_that_is_asked_twice(release: str, version: int, count: int) -> None:
    stage = Stage(release)
    stage.topic("t")
    assert len(ask(stage, version, ADMIN, ("t", 0), ("t", 0))) == count
