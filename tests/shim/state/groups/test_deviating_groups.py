"""Epochs and assignments of consumer groups that deviate from a real broker's."""

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
)
from tests.shim.play import Stage


@pytest.mark.parametrize("offloaded", ["true", "false"])
def test_the_first_response_contains_the_assignment(offloaded: str) -> None:
    stage = Stage("4.4", properties={"group.consumer.assignor.offload.enable": offloaded})
    stage.topic("orders")
    request = ConsumerGroupHeartbeatRequest(
        group_id="g",
        member_id="m",
        member_epoch=0,
        rebalance_timeout_ms=60_000,
        subscribed_topic_names=["orders"],
        topic_partitions=[],
    )
    response = stage.ask(ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, request)
    assert response.error_code == 0
    [row] = response.assignment.topic_partitions
    assert row.topic_id == stage.found("orders").topic_id


def test_a_tie_between_assignors_does_not_raise_the_epoch() -> None:
    stage = Stage("4.4", properties={"group.consumer.assignment.interval.ms": "0"})
    stage.topic("orders")
    epochs = []
    for member_id, assignor in (("m", "uniform"), ("n", "range")):
        request = ConsumerGroupHeartbeatRequest(
            group_id="g",
            member_id=member_id,
            member_epoch=0,
            rebalance_timeout_ms=60_000,
            server_assignor=assignor,
            subscribed_topic_names=[],
            topic_partitions=[],
        )
        for _ in range(2):
            response = stage.ask(ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, request)
            request.member_epoch = response.member_epoch
            epochs.append(response.member_epoch)
    assert len(set(epochs)) == 1


def test_a_custom_assignor_assigns_like_uniform() -> None:
    assignments = []
    for assignors in ("uniform", "org.example.RackAwareAssignor"):
        stage = Stage("4.3", properties={"group.consumer.assignors": assignors})
        stage.topic("orders", partitions=5)
        request = ConsumerGroupHeartbeatRequest(
            group_id="g",
            member_id="m",
            member_epoch=0,
            rebalance_timeout_ms=60_000,
            subscribed_topic_names=["orders"],
            topic_partitions=[],
        )
        response = stage.ask(ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, request)
        assert response.error_code == 0
        [row] = response.assignment.topic_partitions
        assignments.append(row.partitions)
    assert assignments[0] == assignments[1] == [0, 1, 2, 3, 4]
