"""Kafka's console consumer and formatters can read the topic of groups."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.clients.driver import Driver
from tests.clients.stage import Stage

pytestmark = [
    pytest.mark.folders("src/kafka_shim/shim/state", "src/kafka_shim/shim/storage"),
    pytest.mark.client,
    pytest.mark.timeout(300, func_only=True),
]

PACKAGE = "org.apache.kafka.tools.consumer"
IDLE_MS = "4000"
"""The tool ends after this time without a record."""


@pytest.fixture
def driver(java_with_tools: Driver) -> Driver:
    return java_with_tools


def _printed(driver: Driver, topic: str, formatter: str, name: str) -> list[Any]:
    """Return the records that name a group, as the tool prints them."""
    code, output = driver.console_consumer(
        "--topic", topic, "--from-beginning", "--timeout-ms", IDLE_MS,
        "--formatter", f"{PACKAGE}.{formatter}",
    )  # fmt: skip
    rows = list(_objects(output))
    assert rows, (code, output)
    return [row for row in rows if name in str(row["key"])]


def _objects(printed: str) -> Iterator[Any]:
    """Yield the JSON objects that the tool prints one after the other."""
    at = printed.find("{")
    while printed.startswith("{", at):
        found, at = json.JSONDecoder().raw_decode(printed, at)
        yield found
        at += len(printed[at:]) - len(printed[at:].lstrip())


def test_offsets_and_groups_are_printed(driver: Driver, stage: Stage) -> None:
    topic, group = stage.topic(), stage.group()
    driver.produce(topic, ["one", "two"], None)
    driver.consume(topic, group, 2, None)
    rows = _printed(driver, "__consumer_offsets", "OffsetsMessageFormatter", group)
    assert rows[-1]["key"]["data"] == {"group": group, "topic": topic, "partition": 0}
    assert rows[-1]["value"]["data"]["offset"] == 2
    rows = _printed(driver, "__consumer_offsets", "GroupMetadataMessageFormatter", group)
    generations = [row["value"]["data"]["generation"] for row in rows]
    assert generations == sorted(generations)
    assert generations[-1] > 0
