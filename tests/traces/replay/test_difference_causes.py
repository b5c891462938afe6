"""Each difference has one cause, by its API, its field and both values."""

import pytest

from kafka_shim.traces.replay.compare import MISSING, Difference, causes_of, difference_cause

NOT_REQUESTED = -(1 << 31)


@pytest.mark.parametrize(
    ("api", "field", "recorded", "actual", "cause"),
    [
        ("Fetch", "responses[].partitions[].error_code", 0, 29, "permission"),
        ("Fetch", "responses[].partitions[].error_code", 0, 1, "data"),
        ("ConsumerGroupHeartbeat", "error_code", 0, 35, "release"),
        ("ShareFetch", "api", "v2", MISSING, "release"),
        ("IncrementalAlterConfigs", "responses[].error_code", 0, 42, "settings"),
        ("IncrementalAlterConfigs", "responses[].error_code", 0, 29, "permission"),
        ("EndTxn", "error_code", 0, 42, "other"),
        ("CreateTopics", "topics[].configs[].value", "1", "2", "settings"),
        ("CreateTopics", "topics[].num_partitions", 1, 2, "settings"),
        ("DescribeGroups", "groups[].group_state", "Stable", "Dead", "data"),
        ("DescribeGroups", "groups[].authorized_operations", 328, 3400, "release"),
        ("DescribeGroups", "groups[].authorized_operations", 328, 8, "permission"),
        ("Metadata", "topics[].topic_authorized_operations", 0, NOT_REQUESTED, "release"),
        ("Metadata", "topics[].topic_authorized_operations", 0, 8, "permission"),
    ],
)
def test_a_difference_has_a_cause(
    api: str, field: str, recorded: object, actual: object, cause: str
) -> None:
    assert difference_cause(api, Difference(field, recorded, actual)) == cause


def test_what_comes_with_an_error_has_its_cause() -> None:
    rejected = Difference("error_code", 0, 35)
    lost = Difference("assignment", "partitions", None)
    assert causes_of("ConsumerGroupHeartbeat", [lost]) == ["other"]
    assert causes_of("ConsumerGroupHeartbeat", [rejected, lost]) == ["release", "release"]
