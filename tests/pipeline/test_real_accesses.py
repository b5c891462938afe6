"""Derived accesses agree with the authorizer's log of a real broker for the same requests."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.pipeline.rows.selection import Selection
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.trace_format.entries import Request, Response
from tests.pipeline.real_accesses import Exchange, recorded
from tests.pipeline.test_derived import rows, write
from tests.pipeline.traces import START_US

RELEASE = "4.3.1"
KEYS = {key.wire_name: key for key in ApiKey}
SHOWN = {True: "+", False: "-", None: "?"}


@cache
def exchanges() -> dict[str, Exchange]:
    return {f"{e.name}, {e.api} {e.version}": e for e in recorded(RELEASE).exchanges}


def derived(exchange: Exchange, folder: Path) -> list[dict[str, Any]]:
    key = KEYS[exchange.api]
    request, response = bytes.fromhex(exchange.request), bytes.fromhex(exchange.response)
    write(
        folder,
        [
            Request(0, 0, START_US, request),
            Response(0, 0, START_US + 1, key, exchange.version, response),
        ],
    )
    names = {bytes.fromhex(topic): name for topic, name in recorded(RELEASE).topics.items()}
    return rows("accesses", folder, Selection(release=RELEASE[:3], topic_names_by_id=names))


@pytest.mark.parametrize("name", exchanges())
def test_decisions_are_those_that_the_broker_logged(name: str, tmp_path: Path) -> None:
    exchange = exchanges()[name]
    logged = {
        (decision.operation, decision.resource_type, decision.resource_name): decision.allowed
        for decision in exchange.decisions
    }
    for row in derived(exchange, tmp_path):
        if row["allowed"] is None:
            continue
        ways = [(row["operation"], row["resource_type"], row["resource_name"])]
        ways += [tuple(text.split("|", 2)) for text in row["instead"]]
        found = [logged[way] for way in ways if way in logged]
        assert found, (row, "the broker did not make this check")
        assert any(found) == row["allowed"], row


def said(exchange: Exchange, folder: Path) -> set[str]:
    """Return rows as text, e.g. `+WRITE orders`; `-` is denied, `?` is unknown."""
    return {
        f"{SHOWN[row['allowed']]}{row['operation']} {row['resource_name']}"
        for row in derived(exchange, folder)
        if row["role"] not in ("possible", "unnamed", "probe")
    }


EXPECTED = {
    "partitions allowed, AddPartitionsToTxn 3": "+WRITE writer, +WRITE open",
    "partitions denied, AddPartitionsToTxn 3": "+WRITE writer, +WRITE open, -WRITE closed",
    "partitions denied, AddPartitionsToTxn 0": "+WRITE writer, +WRITE open, -WRITE closed",
    "partitions missing, AddPartitionsToTxn 3": "+WRITE writer, +WRITE missing-writable",
    "partitions internal, AddPartitionsToTxn 3": "+WRITE writer, +WRITE open",
    "partitions of another's, AddPartitionsToTxn 3": "-WRITE unseen, ?WRITE open",
    "transactional offsets, no id, TxnOffsetCommit 3": "-WRITE unseen, ?READ readers, ?READ open",
    "transactional offsets, no group, TxnOffsetCommit 3": (
        "+WRITE writer, -READ hidden, ?READ open"
    ),
    "transactional offsets, TxnOffsetCommit 3": (
        "+WRITE writer, +READ readers, +READ open, -READ seen"
    ),
    "offsets of unseen, readers, AddOffsetsToTxn 3": "-WRITE unseen, ?READ readers",
    "create, CreateTopics 4": (
        "+CREATE made, +CREATE made-and-told, ?DESCRIBE_CONFIGS made, ?DESCRIBE_CONFIGS"
        " made-and-told"
    ),
    "create, CreateTopics 5": (
        "+CREATE made, +CREATE made-and-told, -DESCRIBE_CONFIGS made, +DESCRIBE_CONFIGS"
        " made-and-told"
    ),
    "create denied, CreateTopics 7": (
        "+CREATE made, -CREATE closed-new, -DESCRIBE_CONFIGS made, ?DESCRIBE_CONFIGS closed-new"
    ),
    "delete, DeleteTopics 5": (
        "?DESCRIBE open, -DELETE open, ?DESCRIBE seen, -DELETE seen, ?DESCRIBE closed,"
        " -DELETE closed, +DESCRIBE missing, ?DELETE missing, +DESCRIBE missing-deletable,"
        " ?DELETE missing-deletable, ?DESCRIBE missing-unseen, -DELETE missing-unseen"
    ),
    "delete by id, DeleteTopics 6": (
        "+DESCRIBE seen, -DELETE seen, -DESCRIBE closed, -DELETE closed,"
        " +DESCRIBE doomed-by-id, +DELETE doomed-by-id"
    ),
    "commit, OffsetCommit 8": (
        "+READ readers, +READ open, -READ seen, -READ closed, -READ missing"
    ),
    "commit denied, OffsetCommit 8": (
        "-READ hidden, ?READ open, ?READ seen, ?READ closed, ?READ missing"
    ),
    "offsets of hidden, OffsetFetch 7": "-DESCRIBE hidden, ?DESCRIBE open, ?DESCRIBE closed",
    "offsets of two, OffsetFetch 9": (
        "+DESCRIBE watched, -DESCRIBE hidden, +DESCRIBE open, -DESCRIBE closed"
    ),
    "delete offsets of hidden, OffsetDelete 0": "-DELETE hidden, ?READ open, ?READ closed",
    "heartbeat of readers, ConsumerGroupHeartbeat 1": (
        "+READ readers, ?DESCRIBE open, ?DESCRIBE closed"
    ),
    "heartbeat of hidden, ConsumerGroupHeartbeat 1": (
        "-READ hidden, ?DESCRIBE open, ?DESCRIBE closed"
    ),
    "all groups, ListGroups 4": "+DESCRIBE readers, +DESCRIBE watched, +DESCRIBE droppable",
    "all topics, Metadata 12": (
        "+DESCRIBE open, +DESCRIBE seen, +DESCRIBE listed, +DESCRIBE doomed, +DESCRIBE doomed-by-id"
    ),
    "some topics, Metadata 12": "+DESCRIBE open, -DESCRIBE closed, +DESCRIBE missing",
    "all transactions, ListTransactions 1": "+DESCRIBE writer, +DESCRIBE told",
    "all offsets of watched, OffsetFetch 7": (
        "+DESCRIBE watched, +DESCRIBE open, +DESCRIBE listed"
    ),
    "all offsets of hidden, OffsetFetch 7": "-DESCRIBE hidden",
    "all offsets of two, OffsetFetch 9": (
        "+DESCRIBE watched, -DESCRIBE hidden, +DESCRIBE open, +DESCRIBE listed"
    ),
    "all partitions, DescribeTopicPartitions 0": (
        "+DESCRIBE open, +DESCRIBE seen, +DESCRIBE listed, +DESCRIBE doomed, +DESCRIBE doomed-by-id"
    ),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_only_decisions_that_messages_determine_are_derived(name: str, tmp_path: Path) -> None:
    assert said(exchanges()[name], tmp_path) == set(EXPECTED[name].split(", "))
