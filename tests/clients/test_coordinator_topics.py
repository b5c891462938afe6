"""Kafka's console consumer and formatters can read the internal topics of coordinators."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.clients.driver import Driver
from tests.clients.stage import Stage

pytestmark = [pytest.mark.client, pytest.mark.timeout(300, func_only=True)]

PACKAGE = "org.apache.kafka.tools.consumer"
EMPTY, ONGOING, PREPARE_COMMIT, COMPLETE_COMMIT = 0, 1, 2, 4
PREPARE_ABORT, COMPLETE_ABORT = 3, 5
IDLE_MS = "4000"
"""The tool ends after this time without a record."""


@pytest.fixture
def driver(java_with_tools: Driver) -> Driver:
    return java_with_tools


def _printed(driver: Driver, topic: str, formatter: str, name: str) -> list[Any]:
    """Return the records that name a group or a transactional id, as the tool prints them."""
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


def test_transactions_are_printed(driver: Driver, stage: Stage) -> None:
    topic, output = stage.topic(), stage.topic("out")
    driver.produce(topic, ["one", "two"], None)
    driver.transact(topic, output, stage.group(), stage.name, 2, None)
    rows = _printed(driver, "__transaction_state", "TransactionLogMessageFormatter", stage.name)
    assert {row["key"]["type"] for row in rows} == {0}
    assert {row["value"]["version"] for row in rows} == {1}
    values = [row["value"]["data"] for row in rows]
    states = [value["transactionStatus"] for value in values]
    assert states[0] == EMPTY
    assert states[-2:] == [PREPARE_COMMIT, COMPLETE_COMMIT]
    at = states.index(PREPARE_ABORT)
    assert states[at + 1] == COMPLETE_ABORT
    named = {row["topic"] for value in values for row in value["transactionPartitions"] or ()}
    assert named == {output, "__consumer_offsets"}


def test_share_partitions_are_printed(driver: Driver, stage: Stage) -> None:
    topic, group = stage.topic(), stage.group()
    driver.produce(topic, ["one", "two"], None)
    driver.share_from_the_start(group)
    driver.share_consume(topic, group, 2)
    formatter = "group.share.ShareGroupStateMessageFormatter"
    rows = _printed(driver, "__share_group_state", formatter, group)
    assert rows[0]["key"]["type"] == 0
    assert rows[0]["value"]["data"]["snapshotEpoch"] == 0
    updates = [row["value"]["data"] for row in rows if row["key"]["type"] == 1]
    accepted = {"firstOffset": 0, "lastOffset": 1, "deliveryState": 2, "deliveryCount": 1}
    assert updates[-1]["stateBatches"] == [accepted]


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
