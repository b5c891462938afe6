"""Topology descriptions of streams groups that `description_scenarios.py` does not cover."""

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.streams_group_describe import (
    StreamsGroupDescribeRequest,
)
from kafka_shim.protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    Subtopology,
    Topology,
)
from kafka_shim.protocol.messages.streams_group_topology_description_update import (
    StreamsGroupTopologyDescriptionUpdateRequest,
)
from tests.shim.play import Stage

NOT_STORED, AVAILABLE = 1, 3
PLUGIN = "group.streams.topology.description.plugin.class"


def joined(stage: Stage) -> bool:
    """Let a member join; return whether the broker requests a description of its topology."""
    stage.topic("orders")
    request = StreamsGroupHeartbeatRequest(
        group_id="g",
        member_id="m",
        rebalance_timeout_ms=10_000,
        topology=Topology(subtopologies=[Subtopology("0", source_topics=["orders"])]),
        active_tasks=[],
        standby_tasks=[],
        warmup_tasks=[],
        process_id="p",
        client_tags=[],
    )
    response = stage.ask(ApiKey.STREAMS_GROUP_HEARTBEAT, 1, request)
    assert response.error_code == 0
    return bool(response.topology_description_required)


def status(stage: Stage) -> int:
    """Return the status of the description in the response to StreamsGroupDescribe."""
    request = StreamsGroupDescribeRequest(group_ids=["g"], include_topology_description=True)
    (group,) = stage.ask(ApiKey.STREAMS_GROUP_DESCRIBE, 1, request).groups
    return int(group.topology_description_status)


def told(stage: Stage) -> int:
    request = StreamsGroupTopologyDescriptionUpdateRequest(group_id="g", member_id="m")
    api = ApiKey.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE
    return int(stage.ask(api, 0, request).error_code)


def test_any_plugin_keeps_descriptions_in_memory() -> None:
    stage = Stage("4.4", properties={PLUGIN: "com.example.OwnPlugin"})
    assert joined(stage)
    assert told(stage) == 0


def test_without_a_plugin_no_description_is_requested() -> None:
    stage = Stage("4.4")
    assert not joined(stage)
    assert told(stage) == 35
