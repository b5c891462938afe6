"""The leader of a group left, and the target chose another one than the recorded broker."""

from typing import Any

import pytest

from kafka_shim.protocol.messages.heartbeat_request import HeartbeatRequest
from kafka_shim.protocol.messages.join_group_request import JoinGroupRequest
from kafka_shim.protocol.messages.join_group_response import JoinGroupResponse
from kafka_shim.shim.traffic.replay.ids import Ids
from kafka_shim.shim.traffic.replay.leaders import Leaders

GROUP = "g"


def joined(member: str, leader: str = "", generation: int = 2) -> JoinGroupResponse:
    return JoinGroupResponse(generation_id=generation, leader=leader, member_id=member)


def sent_as(ids: Ids, member: str) -> str:
    beat = HeartbeatRequest(group_id=GROUP, member_id=member)
    ids.rewrite("line", beat)
    return beat.member_id


@pytest.fixture
def ids() -> Ids:
    ids = Ids()
    for name in ("a", "b", "c"):  # each was told its id before it joined (79)
        ask = JoinGroupRequest(group_id=GROUP)
        ids.learn("line", ask, joined(f"old-{name}"), joined(f"new-{name}"))
    return ids


def take(leaders: Leaders, leader: str, actual: str, **fields: Any) -> bool:
    request = JoinGroupRequest(group_id=GROUP, **fields)
    return leaders.learn(request, joined("old-c", leader), joined("new-c", actual))


def test_the_recorded_leader_goes_on_as_the_one_who_leads(ids: Ids) -> None:
    leaders = Leaders(ids)
    assert take(leaders, "old-a", "new-b")
    assert [sent_as(ids, f"old-{name}") for name in "abc"] == ["new-b", "new-a", "new-c"]
    assert leaders.has_changed(GROUP, 2)
    assert not leaders.has_changed(GROUP, 3)
    assert not take(leaders, "old-a", "new-b")  # from now on the same member leads


def test_nothing_changes_where_the_same_member_leads(ids: Ids) -> None:
    leaders = Leaders(ids)
    assert not take(leaders, "old-a", "new-a")
    assert not take(leaders, "", "")  # who is still to be told its id is told of no leader
    assert [sent_as(ids, f"old-{name}") for name in "abc"] == ["new-a", "new-b", "new-c"]


def test_static_members_and_strangers_keep_their_ids(ids: Ids) -> None:
    leaders = Leaders(ids)
    assert take(leaders, "old-a", "new-b", group_instance_id="instance")
    assert take(leaders, "old-a", "new-x")
    assert sent_as(ids, "old-a") == "new-a"
    assert not leaders.has_changed(GROUP, 2)
