"""Whether a denied or missing topic is reported as denied or as unknown, by release."""

import pytest

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from tests.shim.play import Stage

USER = "User:alice"
NONE, MISSING, DENIED = (
    int(ErrorCode.NONE),
    int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    int(ErrorCode.TOPIC_AUTHORIZATION_FAILED),
)


def errors(release: str, *operations: Operation) -> tuple[int, int]:
    """Return the error codes for an existing and a missing topic if `operations` are allowed."""
    stage = Stage(release)
    stage.topic("there")
    for operation in operations:
        for name in ("there", "missing"):
            stage.allow(USER, operation, ResourceType.TOPIC, name)
    topics = [
        DeleteRecordsTopic(name, [DeleteRecordsPartition(0)]) for name in ("there", "missing")
    ]
    response = stage.ask(ApiKey.DELETE_RECORDS, 0, DeleteRecordsRequest(topics, 1000), USER)
    codes = {topic.name: topic.partitions[0].error_code for topic in response.topics}
    return codes["there"], codes["missing"]


@pytest.mark.parametrize("release", ["1.0", "2.0", "3.9", "4.3"])
def test_a_denial_does_not_show_existence(release: str) -> None:
    assert errors(release) == (DENIED, DENIED)
    assert errors(release, Operation.DESCRIBE) == (DENIED, DENIED)
    assert errors(release, Operation.DELETE) == (NONE, MISSING)


def test_in_0_11_topics_without_describe_are_unknown() -> None:
    assert errors("0.11") == (MISSING, MISSING)
    assert errors("0.11", Operation.DESCRIBE) == (DENIED, MISSING)
    assert errors("0.11", Operation.DELETE) == (NONE, MISSING)
