"""Partition counts of internal topics are computed in linear time for any subtopology order."""

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
)
from kafka_shim.shim.state.groups.streams import streams_tasks
from kafka_shim.shim.state.groups.streams.streams_topology import (
    ConfiguredTopology,
    ExistingTopics,
    InternalTopic,
    StreamsTopology,
    Subtopology,
    TopologyIndex,
)
from tests.shim.play import Stage
from tests.shim.state.test_topology_descriptions import joined

MANY = 5_000


def chain(links: int) -> tuple[Subtopology, ...]:
    """Each subtopology reads the topic that the next one writes; the last reads `source`."""
    return tuple(
        Subtopology(
            str(at),
            ("source",) if at == links - 1 else (),
            (f"r{at}",),
            () if at == links - 1 else (InternalTopic(f"r{at + 1}", 0, 0, ()),),
            (InternalTopic(f"c{at}", 0, 0, ()),),
        )
        for at in range(links)
    )


def test_a_long_chain_of_subtopologies_is_computed_quickly() -> None:
    """Repeating the computation for all subtopologies took hours."""
    stage = Stage("4.4")
    stage.cluster.topics.create_topic("source", [[1]] * 7, {})
    shape = TopologyIndex(StreamsTopology(0, chain(MANY)))
    configured = ConfiguredTopology(
        shape, shape.existing_topics(stage.cluster.topics), stage.cluster.topics.epoch
    )
    assert len(configured.partitions) == 2 * MANY
    assert set(configured.partitions.values()) == {7}


def test_a_topology_is_recomputed_only_when_its_topics_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A heartbeat of 100 bytes once cost as much as the member's topology of 1 MiB."""
    looks: list[int] = []

    class Noted(ConfiguredTopology):
        def __init__(self, shape: TopologyIndex, seen: ExistingTopics, epoch: int) -> None:
            super().__init__(shape, seen, epoch)
            looks.append(epoch)

    monkeypatch.setattr(streams_tasks, "ConfiguredTopology", Noted)
    stage = Stage("4.4")
    joined(stage)
    looks.clear()
    for topic, looked in ((None, 0), ("of others", 0), ("orders", 1)):
        if topic == "orders":
            stage.cluster.topics.delete_topic(topic)
        elif topic is not None:
            stage.topic(topic)
        for _ in range(2):
            request = StreamsGroupHeartbeatRequest(group_id="g", member_id="m", member_epoch=1)
            assert stage.ask(ApiKey.STREAMS_GROUP_HEARTBEAT, 1, request).error_code == 0
        assert len(looks) == looked
