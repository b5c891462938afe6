"""AlterPartitionReassignments: cancelling a reassignment that is not in progress."""

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from tests.shim.play import Stage

NOT_IN_PROGRESS = 85


@pytest.mark.parametrize(("release", "missing"), [("2.7", NOT_IN_PROGRESS), ("4.3", 3)])
def test_cancelling_fails_if_no_reassignment_is_in_progress(release: str, missing: int) -> None:
    stage = Stage(release)
    stage.topic("t")
    topics = [ReassignableTopic(name, [ReassignablePartition(0, None)]) for name in ("t", "none")]
    request = AlterPartitionReassignmentsRequest(topics=topics)
    answer = stage.ask(ApiKey.ALTER_PARTITION_REASSIGNMENTS, 0, request)
    codes = {response.name: response.partitions[0].error_code for response in answer.responses}
    assert codes == {"t": NOT_IN_PROGRESS, "none": missing}


def test_an_empty_request_returns_default_values() -> None:
    request = AlterPartitionReassignmentsRequest(allow_replication_factor_change=False)
    response = Stage("4.3").ask(ApiKey.ALTER_PARTITION_REASSIGNMENTS, 1, request)
    assert response.allow_replication_factor_change
    assert response.error_message == ""
