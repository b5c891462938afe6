"""OffsetCommit: a denied group returns each topic of the request (seen on 4.3.1)."""

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from tests.shim.play import Stage


def test_a_repeated_topic_is_returned_twice() -> None:
    topic = OffsetCommitRequestTopic(
        topic_id=b"\x33" * 16, partitions=[OffsetCommitRequestPartition(partition_index=0)]
    )
    request = OffsetCommitRequest(group_id="g", topics=[topic, topic])
    response = Stage().ask(ApiKey.OFFSET_COMMIT, 10, request, "User:alice")
    assert [[partition.error_code for partition in t.partitions] for t in response.topics] == [
        [30],
        [30],
    ]
