"""Kafka's own share consumer (KIP-932) and its console tool against the broker."""

import pytest

from tests.clients.driver import ClientError, Driver
from tests.clients.stage import Stage, eventually

pytestmark = [pytest.mark.client, pytest.mark.timeout(300, func_only=True)]

VALUES = ["one", "two", "three"]


@pytest.fixture
def driver(java: Driver) -> Driver:
    return java


@pytest.fixture
def topic(driver: Driver, stage: Stage) -> str:
    """Create a topic with three records, which the stage's group reads from the start."""
    name = stage.topic()
    driver.produce(name, VALUES, None)
    driver.share_from_the_start(stage.group())
    return name


def test_accepted_records_are_delivered_once(driver: Driver, stage: Stage, topic: str) -> None:
    group = stage.group()
    first = driver.share_consume(topic, group, 3)
    assert first == [(value, 1) for value in VALUES]
    eventually(lambda: [lag for _, lag in driver.share_offsets(group)] == [0])
    driver.produce(topic, ["four"], None)
    assert driver.share_consume(topic, group, 1) == [("four", 1)]


def test_released_records_are_redelivered_and_rejected_ones_are_not(
    driver: Driver, stage: Stage, topic: str
) -> None:
    types = {"one": ["RELEASE", "RELEASE"], "two": ["REJECT"]}
    found = driver.share_consume(topic, stage.group(), 5, types=types)
    assert found == [("one", 1), ("two", 1), ("three", 1), ("one", 2), ("one", 3)]


def test_a_renewed_record_stays_with_its_member(driver: Driver, stage: Stage, topic: str) -> None:
    found = driver.share_consume(topic, stage.group(), 4, types={"two": ["RENEW"]})
    assert found == [("one", 1), ("two", 1), ("three", 1), ("two", 1)]


def test_a_record_is_delivered_a_limited_number_of_times(
    driver: Driver, stage: Stage, topic: str
) -> None:
    found = driver.share_consume(topic, stage.group(), 7, types={"one": ["RELEASE"] * 9})
    assert [row for row in found if row[0] == "one"] == [("one", count) for count in range(1, 6)]
    eventually(lambda: [lag for _, lag in driver.share_offsets(stage.group())] == [0])


def test_read_on_group_and_topic_is_enough(driver: Driver, stage: Stage, topic: str) -> None:
    stage.grant("alice", "READ", "GROUP", stage.group())
    stage.grant("alice", "READ", "TOPIC", topic)
    assert driver.share_consume(topic, stage.group(), 3, "alice") == [
        (value, 1) for value in VALUES
    ]


def test_without_read_on_the_group_it_is_denied(driver: Driver, stage: Stage, topic: str) -> None:
    stage.grant("alice", "READ", "TOPIC", topic)
    with pytest.raises(ClientError) as denied:
        driver.share_consume(topic, stage.group(), 1, "alice")
    assert denied.value.code == 30


def test_with_describe_only_the_topic_is_denied(driver: Driver, stage: Stage, topic: str) -> None:
    stage.grant("alice", "READ", "GROUP", stage.group())
    stage.grant("alice", "DESCRIBE", "TOPIC", topic)
    with pytest.raises(ClientError) as denied:
        driver.share_consume(topic, stage.group(), 1, "alice")
    assert denied.value.code == 29


def test_the_console_consumer_prints_records(
    java_with_tools: Driver, stage: Stage, topic: str
) -> None:
    code, output = java_with_tools.console_share_consumer(
        "--topic", topic, "--group", stage.group(), "--max-messages", "3", "--timeout-ms", "20000"
    )
    assert (code, output.split()[:3]) == (0, VALUES)
