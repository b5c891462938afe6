"""A group with an empty id may have offsets, but no members (recorded from 4.3.1 and 2.8.2)."""

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.heartbeat import HeartbeatRequest
from kafka_shim.protocol.messages.leave_group import LeaveGroupRequest
from kafka_shim.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from tests.shim.play import Stage


@pytest.mark.parametrize("release", ["2.8", "4.3"])
def test_members_of_a_group_with_an_empty_id_are_rejected(release: str) -> None:
    stage = Stage(release)
    stage.topic("orders")
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=1)
    topic = OffsetCommitRequestTopic(name="orders", partitions=[partition])
    commit = OffsetCommitRequest(group_id="", topics=[topic])
    response = stage.ask(ApiKey.OFFSET_COMMIT, 2, commit)
    assert response.topics[0].partitions[0].error_code == ErrorCode.NONE
    for api, request in (
        (ApiKey.HEARTBEAT, HeartbeatRequest(generation_id=1, member_id="nobody")),
        (ApiKey.LEAVE_GROUP, LeaveGroupRequest(member_id="nobody")),
    ):
        assert stage.ask(api, 1, request).error_code == ErrorCode.INVALID_GROUP_ID, api
