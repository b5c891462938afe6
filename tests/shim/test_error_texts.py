"""Error messages that quote long names are shortened to the longest string of the protocol."""

from typing import Any

import pytest

from kafka_shim.protocol.codec import runtime
from kafka_shim.protocol.codec.runtime import STRING_BYTES_MAX
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
)
from kafka_shim.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kafka_shim.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.shim.play import Stage

LONG = "é" * ((STRING_BYTES_MAX - 1) // 2)
"""The longest name that a request can contain, in characters of two bytes."""


def texts_in(value: Any) -> list[str]:
    """Return all error messages in a response."""
    if isinstance(value, list):
        return [text for row in value for text in texts_in(row)]
    found: list[str] = []
    for name in getattr(value, "__struct_fields__", ()):
        content = getattr(value, name)
        is_text = name.endswith("error_message") and content
        found += [content] if is_text else texts_in(content)
    return found


REQUESTS: dict[str, tuple[ApiKey, int, Any]] = {
    "setting of a new topic": (
        ApiKey.CREATE_TOPICS,
        7,
        CreateTopicsRequest(
            topics=[CreatableTopic("t", 1, 1, [], [CreatableTopicConfig(LONG, "x")])]
        ),
    ),
    "value of a new topic's setting, version 4": (
        ApiKey.CREATE_TOPICS,
        4,
        CreateTopicsRequest(
            topics=[CreatableTopic("t", 1, 1, [], [CreatableTopicConfig("retention.ms", LONG)])]
        ),
    ),
    "assignor": (
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        1,
        ConsumerGroupHeartbeatRequest(
            group_id="g", member_id="m", rebalance_timeout_ms=1000, topic_partitions=[],
            subscribed_topic_names=["t"], server_assignor=LONG,
        ),
    ),
    "regular expression": (
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        1,
        ConsumerGroupHeartbeatRequest(
            group_id="g", member_id="m", rebalance_timeout_ms=1000, topic_partitions=[],
            subscribed_topic_regex=LONG,
        ),
    ),
    "setting of a topic": (
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        1,
        IncrementalAlterConfigsRequest(
            resources=[AlterConfigsResource(2, "t", [AlterableConfig(LONG, 0, LONG)])]
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REQUESTS)
def test_a_message_that_quotes_a_long_name_is_shortened(case: str) -> None:
    stage = Stage()
    if case == "setting of a topic":
        stage.topic("t")
    response = stage.ask(*REQUESTS[case])
    texts = texts_in(response)
    assert texts
    assert all(len(text.encode()) <= STRING_BYTES_MAX for text in texts)
    assert any("é" in text and text.endswith("…") for text in texts), [t[:200] for t in texts]


def test_messages_that_fit_are_not_shortened() -> None:
    for text in ("", "wrong", "é" * (STRING_BYTES_MAX // 2)):
        assert runtime.encode_error_message_cut_with_ellipsis(text) == text.encode()
