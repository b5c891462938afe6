"""The leader of a group left, and the target chose another one than the recorded broker."""

import pytest

from kafka_shim.protocol import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.protocol.messages.heartbeat_request import HeartbeatRequest
from kafka_shim.protocol.messages.join_group_request import JoinGroupRequest
from kafka_shim.protocol.messages.join_group_response import (
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from kafka_shim.protocol.messages.sync_group_request import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)
from kafka_shim.protocol.trace.entries import Request
from kafka_shim.shim.traffic.replay.compare import differences
from kafka_shim.shim.traffic.replay.leaders import Leaders, assignments_of

MEMBERS = {"old-a": "new-a", "old-b": "new-b", "old-c": "new-c"}
VERSION = 3


def sync(member: str, *assigned: str) -> SyncGroupRequest:
    rows = [SyncGroupRequestAssignment(name, name.encode()) for name in assigned]
    return SyncGroupRequest(group_id="g", generation_id=2, member_id=member, assignments=rows)


def joined(leader: str, *members: str) -> JoinGroupResponse:
    rows = [JoinGroupResponseMember(member_id=name) for name in members]
    return JoinGroupResponse(generation_id=2, leader=leader, member_id=leader, members=rows)


def entry(request: SyncGroupRequest) -> Request:
    header = write_request_header(RequestHeader(ApiKey.SYNC_GROUP, VERSION, 1))
    return Request(0, 0, 0, header + codecs.write_request(request, VERSION))


@pytest.fixture
def leaders() -> Leaders:
    """old-a led; at the target new-b does."""
    found = assignments_of(entry(sync("old-a", "old-a", "old-b")))
    assert found is not None
    leaders = Leaders(dict([found]))
    ask = JoinGroupRequest(group_id="g")
    leaders.learn(ask, joined("old-a", "old-a", "old-b"), joined("new-b"), MEMBERS)
    return leaders


def test_who_leads_sends_what_the_recorded_leader_assigned(leaders: Leaders) -> None:
    for _ in range(2):  # what is kept is not changed by those who get it
        request = sync("old-b")
        assert leaders.hand_over(request, MEMBERS)
        assert request.assignments == sync("", "old-a", "old-b").assignments
        request.assignments[0].member_id = "new-a"


def test_the_recorded_leader_assigns_nothing(leaders: Leaders) -> None:
    request = sync("old-a", "old-a", "old-b")
    assert leaders.hand_over(request, MEMBERS)
    assert request.assignments == []


def test_other_members_and_generations_stay_as_they_are(leaders: Leaders) -> None:
    assert not leaders.hand_over(sync("old-c"), MEMBERS)
    later = SyncGroupRequest(group_id="g", generation_id=3, member_id="old-b")
    assert not leaders.hand_over(later, MEMBERS)
    leaders.learn(JoinGroupRequest(group_id="g"), joined("old-a"), joined("new-a"), MEMBERS)
    assert not leaders.hand_over(sync("old-b"), MEMBERS)  # the same leads after all


def test_only_the_same_leader_is_told_the_same_members() -> None:
    recorded = joined("old-a", "old-a", "old-b")
    assert not differences(VERSION, recorded, joined("new-b"), MEMBERS)
    (difference,) = differences(VERSION, recorded, joined("new-a", "new-a"), MEMBERS)
    assert difference.field == "members[]"


def test_nothing_else_assigns() -> None:
    assert assignments_of(entry(sync("old-b"))) is None
    header = write_request_header(RequestHeader(ApiKey.HEARTBEAT, VERSION, 1))
    beat = header + codecs.write_request(HeartbeatRequest(group_id="g"), VERSION)
    assert assignments_of(Request(0, 0, 0, beat)) is None
