"""A group without a name may have offsets, but no members (as 4.3.1 and 2.8.2 answer)."""

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.heartbeat_request import HeartbeatRequest
from kafka_shim.protocol.messages.leave_group_request import LeaveGroupRequest
from kafka_shim.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from tests.shim.play import Stage


@pytest.mark.parametrize("release", ["2.8", "4.3"])
def test_its_members_are_refused_though_it_has_offsets(release: str) -> None:
    stage = Stage(release)
    stage.topic("orders")
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=1)
    topic = OffsetCommitRequestTopic(name="orders", partitions=[partition])
    commit = OffsetCommitRequest(group_id="", topics=[topic])
    answer = stage.ask(ApiKey.OFFSET_COMMIT, 2, commit)
    assert answer.topics[0].partitions[0].error_code == ErrorCode.NONE
    for api, request in (
        (ApiKey.HEARTBEAT, HeartbeatRequest(generation_id=1, member_id="nobody")),
        (ApiKey.LEAVE_GROUP, LeaveGroupRequest(member_id="nobody")),
    ):
        assert stage.ask(api, 1, request).error_code == ErrorCode.INVALID_GROUP_ID, api
