"""Heartbeats that may visit all members of a large group are handled in turns."""

from typing import Any

import msgspec
import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    RequestTopicPartitions,
)
from kafka_shim.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from kafka_shim.protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    Subtopology,
    Topology,
)
from kafka_shim.shim.handlers import (
    consumer_group_heartbeat,
    share_group_heartbeat,
    streams_group_heartbeat,
)
from kafka_shim.shim.handlers.common import long_requests
from kafka_shim.shim.state.groups.share.share_group import ShareHeartbeat
from tests.shim.play import Stage
from tests.shim.state.groups.test_long_heartbeats import beat

SHARING = ShareHeartbeat(
    member_id="",
    member_epoch=0,
    rack_id=None,
    topic_names=["a", "b"],
    client_id="c",
    client_host="/h",
)


def heartbeat(**fields: Any) -> ConsumerGroupHeartbeatRequest:
    return ConsumerGroupHeartbeatRequest(group_id="g", **fields)


def test_a_heartbeat_that_assigns_many_members_is_handled_in_time_slices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(long_requests, "MANY_MEMBERS", 3)
    stage, is_long = Stage("4.3"), consumer_group_heartbeat.takes_long
    stage.topic("a", 9)
    requests = stage.cluster.member_requests
    joins = heartbeat(member_id="z", member_epoch=0, subscribed_topic_names=["a"])
    for number in range(4):
        assert is_long(joins, stage.cluster) == (number == 3)
        requests.handle_consumer_heartbeat("g", beat(f"m{number}", "a"))
        stage.clock.advance(10_000)
    stays = heartbeat(member_id="m3", member_epoch=4)
    assert not is_long(stays, stage.cluster)
    requests.handle_consumer_heartbeat("g", beat("m0", epoch=-1))
    assert is_long(stays, stage.cluster)


def test_a_heartbeat_that_may_move_many_partitions_is_handled_in_time_slices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(long_requests, "MANY_ROWS", 8)
    monkeypatch.setattr(consumer_group_heartbeat, "MANY_TOPICS", 2)
    stage, is_long = Stage("4.3"), consumer_group_heartbeat.takes_long
    stage.topic("a", 9)
    requests = stage.cluster.member_requests
    stays = heartbeat(member_id="m0", member_epoch=2)
    assert not is_long(stays, stage.cluster), "the group does not exist"
    joins = heartbeat(member_id="m0", member_epoch=0, subscribed_topic_names=["a"])
    assert is_long(joins, stage.cluster), "the new group has many partitions"
    requests.handle_consumer_heartbeat("g", beat("m0", "a"))
    stage.clock.advance(10_000)
    assert not is_long(stays, stage.cluster)
    held = [RequestTopicPartitions(bytes(16), [0])]
    reports = heartbeat(member_id="m0", member_epoch=2, topic_partitions=held)
    assert is_long(reports, stage.cluster)
    requests.handle_consumer_heartbeat("g", beat("m1", "a"))
    assert is_long(stays, stage.cluster), "m0 has nine partitions and must revoke some"
    assert not is_long(heartbeat(member_id="m1", member_epoch=3), stage.cluster)
    joins = heartbeat(member_id="m2", member_epoch=0, subscribed_topic_names=["a"])
    assert not is_long(joins, stage.cluster), "a new target is not due and has one topic"
    matches = heartbeat(member_id="m2", member_epoch=0, subscribed_topic_regex="a")
    assert is_long(matches, stage.cluster)
    stage.topic("b", 1)
    assert is_long(heartbeat(member_id="m1", member_epoch=3), stage.cluster)
    requests.handle_consumer_heartbeat("g", beat("m3", "b"))
    assert is_long(joins, stage.cluster), "members subscribe to two topics"


def test_a_heartbeat_that_compares_all_topics_with_expressions_is_handled_in_time_slices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(long_requests, "MANY_ROWS", 8)
    stage, is_long = Stage("4.3"), consumer_group_heartbeat.takes_long
    for name in ("a", "b"):
        stage.topic(name, 1)
    stage.topic("many", 9)
    requests = stage.cluster.member_requests
    requests.handle_consumer_heartbeat("g", msgspec.structs.replace(beat("m0"), topic_regex="a|b"))
    stays = heartbeat(member_id="m0", member_epoch=2)
    assert not is_long(stays, stage.cluster)
    stage.topic("ab", 1)
    assert not is_long(stays, stage.cluster), "the expression was resolved a moment ago"
    stage.clock.advance(10_001)
    assert is_long(stays, stage.cluster)
    requests.handle_consumer_heartbeat("g", beat("m0", epoch=1))
    assert not is_long(stays, stage.cluster)


def share_heartbeat(
    *names: str, member_id: str = "z", epoch: int = 0
) -> ShareGroupHeartbeatRequest:
    request = ShareGroupHeartbeatRequest("g", member_id, epoch)
    request.subscribed_topic_names = list(names) or None
    return request


def test_a_heartbeat_of_a_large_share_group_is_handled_in_time_slices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(share_group_heartbeat, "MANY_SHARED", 9)
    stage, is_long = Stage("4.3"), share_group_heartbeat.takes_long
    for name, partitions in (("a", 5), ("b", 2), ("large", 9)):
        stage.topic(name, partitions)
    requests, joins = stage.cluster.member_requests, share_heartbeat("a", "b")
    assert not is_long(joins, stage.cluster)
    assert is_long(share_heartbeat("large"), stage.cluster)
    for number in range(2):
        requests.handle_share_heartbeat(
            "g", msgspec.structs.replace(SHARING, member_id=f"m{number}")
        )
    stays = share_heartbeat(member_id="m1", epoch=1)
    assert not is_long(joins, stage.cluster)
    stage.clock.advance(10_000)
    assert is_long(joins, stage.cluster)
    assert is_long(stays, stage.cluster)


def streams_heartbeat(
    member_id: str, epoch: int, endpoint_epoch: int
) -> StreamsGroupHeartbeatRequest:
    return StreamsGroupHeartbeatRequest("g", member_id, epoch, endpoint_epoch)


def joining(member_id: str) -> StreamsGroupHeartbeatRequest:
    return StreamsGroupHeartbeatRequest(
        "g",
        member_id,
        rebalance_timeout_ms=60_000,
        topology=Topology(0, [Subtopology("s", ["t"])]),
        active_tasks=[],
        standby_tasks=[],
        warmup_tasks=[],
        process_id=member_id,
        client_tags=[],
    )


def test_a_heartbeat_of_a_large_streams_group_is_handled_in_time_slices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streams_group_heartbeat, "MANY_MEMBERS", 3)
    stage, is_long = Stage("4.3"), streams_group_heartbeat.takes_long
    stage.topic("t", 5)
    for number in range(3):
        assert not is_long(streams_heartbeat("m0", 0, 0), stage.cluster)
        stage.ask(ApiKey.STREAMS_GROUP_HEARTBEAT, 0, joining(f"m{number}"))
    stays = streams_heartbeat("m0", 1, 0)
    assert not is_long(stays, stage.cluster)
    assert is_long(streams_heartbeat("m0", 1, 1), stage.cluster), (
        "the response contains all endpoints"
    )
    stage.clock.advance(10_000)
    assert is_long(stays, stage.cluster), "a new target assignment is due"
    stage.ask(ApiKey.STREAMS_GROUP_HEARTBEAT, 0, StreamsGroupHeartbeatRequest("g", "m0", 1))
    stage.clock.advance(10_000)
    assert not is_long(stays, stage.cluster)
    stage.topic("another")
    assert is_long(stays, stage.cluster), "a topic was created"
