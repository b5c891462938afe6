"""DescribeTopicPartitions: pages in the order of names, and denied topics (KIP-966)."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import NO_OPERATIONS, ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    RequestCursor,
    TopicRequest,
)
from tests.shim.play import ADMIN, Stage

ALICE = "User:alice"


@pytest.fixture
def stage() -> Stage:
    stage = Stage()
    for name, partitions in (("c", 3), ("a", 2), ("b", 1)):
        stage.topic(name, partitions)
    for name in ("a", "c", "missing"):
        stage.allow(ALICE, Operation.DESCRIBE, ResourceType.TOPIC, name)
    return stage


def ask(
    stage: Stage,
    names: str,
    limit: int = 2000,
    cursor: RequestCursor | None = None,
    who: str = ADMIN,
) -> Any:
    topics = [TopicRequest(name) for name in names.split()]
    request = DescribeTopicPartitionsRequest(topics, limit, cursor)
    return stage.ask(ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, request, who)


def pages(response: Any) -> list[tuple[str, list[int]]]:
    return [
        (topic.name, [part.partition_index for part in topic.partitions])
        for topic in response.topics
    ]


def test_topics_are_sorted_by_name_without_duplicates(stage: Stage) -> None:
    assert pages(ask(stage, "")) == [("a", [0, 1]), ("b", [0]), ("c", [0, 1, 2])]
    assert pages(ask(stage, "c a a")) == [("a", [0, 1]), ("c", [0, 1, 2])]


def test_denied_topics_come_last_or_are_omitted(stage: Stage) -> None:
    response = ask(stage, "b unseen missing a", who=ALICE)
    assert [(topic.name, topic.error_code) for topic in response.topics] == [
        ("a", 0),
        ("missing", 3),
        ("b", 29),
        ("unseen", 29),
    ]
    bits = [topic.topic_authorized_operations for topic in response.topics]
    assert bits == [256, 256, NO_OPERATIONS, NO_OPERATIONS]
    assert pages(ask(stage, "", who=ALICE)) == [("a", [0, 1]), ("c", [0, 1, 2])]
    assert pages(ask(stage, "", who="User:bob")) == []


@pytest.mark.parametrize("limit", [-1, 1, 2, 3, 4, 6, 7])
def test_all_pages_together_contain_all_partitions(stage: Stage, limit: int) -> None:
    seen, cursor = [], None
    for _ in range(10):
        response = ask(stage, "", limit, cursor)
        page = [(name, index) for name, indexes in pages(response) for index in indexes]
        assert len(page) <= max(limit, 1)
        seen += page
        if response.next_cursor is None:
            break
        cursor = RequestCursor(
            response.next_cursor.topic_name, response.next_cursor.partition_index
        )
    assert seen == [("a", 0), ("a", 1), ("b", 0), ("c", 0), ("c", 1), ("c", 2)]


def test_the_limit_of_the_broker_applies_too() -> None:
    stage = Stage(properties={"max.request.partition.size.limit": "2"})
    stage.topic("t", 5)
    assert pages(ask(stage, "t")) == [("t", [0, 1])]


@pytest.mark.parametrize("cursor", [RequestCursor("c", 0), RequestCursor("a", -1)])
def test_an_invalid_cursor_is_rejected_before_permissions_are_checked(
    stage: Stage, cursor: RequestCursor
) -> None:
    response = ask(stage, "a b", cursor=cursor, who="User:bob")
    assert [topic.error_code for topic in response.topics] == [42, 42]


def test_an_illegal_topic_name_is_rejected(stage: Stage) -> None:
    request = DescribeTopicPartitionsRequest([TopicRequest("bad name")])
    response = stage.ask(ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, request)
    assert response.topics[0].error_code == 17
