"""The target may choose another leader of a group than the recorded broker did."""

from typing import Any

import pytest

from kafka_shim.protocol.messages.heartbeat import HeartbeatRequest
from kafka_shim.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from kafka_shim.traces.identities.id_mapping import GroupLeaderSwaps, IdMapping

GROUP = "g"


def joined(member: str, leader: str = "", generation: int = 2) -> JoinGroupResponse:
    return JoinGroupResponse(generation_id=generation, leader=leader, member_id=member)


def sent_as(ids: IdMapping, member: str) -> str:
    beat = HeartbeatRequest(group_id=GROUP, member_id=member)
    ids.put_target_ids("line", beat)
    return beat.member_id


@pytest.fixture
def ids() -> IdMapping:
    ids = IdMapping()
    for name in ("a", "b", "c"):  # each got its id with MEMBER_ID_REQUIRED (79)
        ask = JoinGroupRequest(group_id=GROUP)
        ids.learn("line", ask, joined(f"old-{name}"), joined(f"new-{name}"))
    return ids


def take(leaders: GroupLeaderSwaps, leader: str, actual: str, **fields: Any) -> bool:
    request = JoinGroupRequest(group_id=GROUP, **fields)
    return leaders.swap_leaders(request, joined("old-c", leader), joined("new-c", actual))


def test_the_recorded_leader_continues_as_the_actual_leader(ids: IdMapping) -> None:
    leaders = GroupLeaderSwaps(ids)
    assert take(leaders, "old-a", "new-b")
    assert [sent_as(ids, f"old-{name}") for name in "abc"] == ["new-b", "new-a", "new-c"]
    assert leaders.has_swapped_members(GROUP, 2)
    assert not leaders.has_swapped_members(GROUP, 3)
    assert not take(leaders, "old-a", "new-b")  # the same member leads from now on


def test_nothing_changes_if_the_same_member_leads(ids: IdMapping) -> None:
    leaders = GroupLeaderSwaps(ids)
    assert not take(leaders, "old-a", "new-a")
    assert not take(leaders, "", "")  # MEMBER_ID_REQUIRED (79) has no leader
    assert [sent_as(ids, f"old-{name}") for name in "abc"] == ["new-a", "new-b", "new-c"]


def test_static_and_unknown_members_keep_their_ids(ids: IdMapping) -> None:
    leaders = GroupLeaderSwaps(ids)
    assert take(leaders, "old-a", "new-b", group_instance_id="instance")
    assert take(leaders, "old-a", "new-x")
    assert sent_as(ids, "old-a") == "new-a"
    assert not leaders.has_swapped_members(GROUP, 2)
