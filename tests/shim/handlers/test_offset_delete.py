"""OffsetDelete of many or repeated partitions."""

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.handlers import offset_delete
from kafka_shim.shim.state.groups.group import CommitIdentity
from kafka_shim.shim.state.groups.groups import OffsetCommit
from kafka_shim.shim.state.groups.offsets import CommittedOffset
from tests.shim.play import Stage


def deleted(release: str, *indexes: int) -> OffsetDeleteResponse:
    stage = Stage(release)
    topic = stage.cluster.topics.create_topic("t", [[1], [1]], {})
    commits = [OffsetCommit(topic.topic_id, 0, CommittedOffset(5))]
    stage.cluster.groups.commit_offsets("g", CommitIdentity("", None, -1, 2), commits)
    partitions = [OffsetDeleteRequestPartition(index) for index in indexes]
    request = OffsetDeleteRequest(group_id="g", topics=[OffsetDeleteRequestTopic("t", partitions)])
    response: OffsetDeleteResponse = stage.ask(ApiKey.OFFSET_DELETE, 0, request)
    return response


def test_many_partitions_take_linear_time() -> None:
    """Each partition was once searched among all before it, which took minutes."""
    (topic,) = deleted("3.4", *range(100_000)).topics
    assert len(topic.partitions) == 100_000


def test_a_repeated_partition_is_returned_at_its_last_position() -> None:
    (topic,) = deleted("3.4", 0, 1, 0).topics
    assert [row.partition_index for row in topic.partitions] == [1, 0]


def test_a_quadratic_response_closes_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offset_delete, "ROWS_MAX", 4)
    assert len(deleted("2.4", 0, 1).topics) == 2
    with pytest.raises(CloseConnection, match="more than 4 rows"):
        deleted("2.4", 0, 1, 2)
