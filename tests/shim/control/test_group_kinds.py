"""The control API shows groups of the newer protocols and resets their offsets."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
)
from kafka_shim.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from kafka_shim.protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
)
from kafka_shim.shim.control.control_error import ControlError
from kafka_shim.shim.control.group_control import GroupControl
from kafka_shim.shim.control.state_bodies import NewOffsets
from tests.shim.play import Stage
from tests.shim.state.test_topology_descriptions import joined

MEMBER = "AAAAAAAAAAAAAAAAAAAAAQ"


def shown(stage: Stage, group_id: str = "g") -> Any:
    return GroupControl(stage.cluster).group_row(group_id)


def test_a_consumer_group_is_shown_with_its_assignment() -> None:
    stage = Stage()
    stage.topic("orders", 2)
    request = ConsumerGroupHeartbeatRequest(
        "g", MEMBER, rebalance_timeout_ms=30_000,
        subscribed_topic_names=["orders"], topic_partitions=[],
    )  # fmt: skip
    assert stage.ask(ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, request).error_code == 0
    group = shown(stage)
    [member] = group["members"]
    assert (group["type"], group["state"]) == ("consumer", "Stable")
    assert (member["member_id"], member["client_id"]) == (MEMBER, "play")
    assert member["epoch"] > 0
    assert member["assignment"] == [{"topic": "orders", "partitions": [0, 1]}]


def test_offsets_of_a_share_group_are_reset_once_its_members_have_left() -> None:
    stage = Stage()
    stage.topic("orders")
    request = ShareGroupHeartbeatRequest("g", MEMBER, subscribed_topic_names=["orders"])
    assert stage.ask(ApiKey.SHARE_GROUP_HEARTBEAT, 1, request).error_code == 0
    stage.clock.advance(5_000)  # the initial rebalance delay
    alive = ShareGroupHeartbeatRequest(
        "g", MEMBER, member_epoch=shown(stage)["members"][0]["epoch"]
    )
    assert stage.ask(ApiKey.SHARE_GROUP_HEARTBEAT, 1, alive).error_code == 0
    group = shown(stage)
    assert (group["type"], group["state"]) == ("share", "Stable")
    assert group["members"][0]["assignment"] == [{"topic": "orders", "partitions": [0]}]
    groups = GroupControl(stage.cluster)
    earliest = NewOffsets("earliest", "orders")
    with pytest.raises(ControlError, match="has members"):
        groups.reset_offsets("g", earliest)
    leaving = ShareGroupHeartbeatRequest("g", MEMBER, member_epoch=-1)
    assert stage.ask(ApiKey.SHARE_GROUP_HEARTBEAT, 1, leaving).error_code == 0
    groups.reset_offsets("g", earliest)
    assert [(row["offset"], row["lag"]) for row in shown(stage)["offsets"]] == [(0, 0)]


def test_a_streams_group_is_shown_with_its_tasks() -> None:
    stage = Stage()
    joined(stage)
    stage.clock.advance(5_000)
    alive = StreamsGroupHeartbeatRequest("g", "m", member_epoch=shown(stage)["members"][0]["epoch"])
    assert stage.ask(ApiKey.STREAMS_GROUP_HEARTBEAT, 1, alive).error_code == 0
    group = shown(stage)
    assert (group["type"], len(group["members"])) == ("streams", 1)
    [tasks] = group["members"][0]["assignment"]
    assert tasks["partitions"]
