"""Members of groups need not rejoin after their broker was killed and restarted."""

from pathlib import Path
from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
)
from kafka_shim.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
)
from kafka_shim.protocol.messages.share_group_describe import ShareGroupDescribeRequest
from kafka_shim.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from kafka_shim.protocol.messages.streams_group_describe import (
    StreamsGroupDescribeRequest,
)
from kafka_shim.protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    Subtopology,
    TopicInfo,
    Topology,
)
from tests.shim.storage.kept import KeptStage

HEARTBEATS = {
    "consumer": (ApiKey.CONSUMER_GROUP_HEARTBEAT, ConsumerGroupHeartbeatRequest),
    "share": (ApiKey.SHARE_GROUP_HEARTBEAT, ShareGroupHeartbeatRequest),
    "streams": (ApiKey.STREAMS_GROUP_HEARTBEAT, StreamsGroupHeartbeatRequest),
}
DESCRIBES = {
    "consumer": (ApiKey.CONSUMER_GROUP_DESCRIBE, ConsumerGroupDescribeRequest),
    "share": (ApiKey.SHARE_GROUP_DESCRIBE, ShareGroupDescribeRequest),
    "streams": (ApiKey.STREAMS_GROUP_DESCRIBE, StreamsGroupDescribeRequest),
}
JOINS: dict[str, dict[str, Any]] = {
    "consumer": {
        "rebalance_timeout_ms": 60_000,
        "subscribed_topic_names": ["orders"],
        "topic_partitions": [],
        "instance_id": "i",
    },
    "share": {"subscribed_topic_names": ["orders"]},
    "streams": {
        "rebalance_timeout_ms": 60_000,
        "process_id": "p",
        "active_tasks": [],
        "standby_tasks": [],
        "warmup_tasks": [],
        "topology": Topology(1, [Subtopology(subtopology_id="0", source_topics=["orders"])]),
    },
}


def beat(stage: KeptStage, kind: str, epoch: int, **more: Any) -> Any:
    api, request = HEARTBEATS[kind]
    version = 1 if kind == "share" else 0
    return stage.ask(api, version, request("g", "m", member_epoch=epoch, **more))


def described(stage: KeptStage, kind: str) -> Any:
    api, request = DESCRIBES[kind]
    version = 1 if kind == "share" else 0
    return stage.ask(api, version, request(["g"])).groups


@pytest.mark.parametrize("kind", HEARTBEATS)
def test_a_member_continues_after_a_restart(tmp_path: Path, kind: str) -> None:
    stage = KeptStage(tmp_path)
    stage.topic("orders", 3)
    joined = beat(stage, kind, 0, **JOINS[kind])
    assert joined.error_code == 0, joined
    for _ in range(2):
        stage.clock.advance(5_000)
        epoch = joined.member_epoch
        joined = beat(stage, kind, epoch)
    before = described(stage, kind)
    again = stage.again()
    assert described(again, kind) == before
    response = beat(again, kind, joined.member_epoch)
    assert (response.error_code, response.member_epoch) == (0, joined.member_epoch)
    again.clock.advance(120_000)
    assert described(again, kind)[0].members == []
    assert described(again.again(), kind)[0].members == []


def test_standby_tasks_are_restored(tmp_path: Path) -> None:
    stage = KeptStage(tmp_path)
    stage.topic("orders", 2)
    stage.topic("log", 2)
    stage.cluster.configs.store_group_settings("g", {"streams.num.standby.replicas": "1"})
    part = Subtopology("0", ["orders"], state_changelog_topics=[TopicInfo("log")])
    streams = JOINS["streams"] | {"topology": Topology(1, [part])}
    for process in ("m", "n"):
        stage.ask(
            ApiKey.STREAMS_GROUP_HEARTBEAT,
            0,
            StreamsGroupHeartbeatRequest("g", process, **streams | {"process_id": process}),
        )
    stage.clock.advance(5_000)
    beat(stage, "streams", 1)
    before = described(stage, "streams")
    assert [len(member.target_assignment.standby_tasks) for member in before[0].members] == [1, 1]
    again = stage.again()
    assert described(again, "streams") == before
