"""Dead-letter queues, beyond the recordings of `dead_letter_scenarios.py`."""

import pytest

from kafka_shim.authorizer.model import Action
from kafka_shim.protocol.enums import Operation, ResourceType
from kafka_shim.protocol.records.batches import Record, iterate_batches
from kafka_shim.shim.state.authorization import create_inter_broker_check
from kafka_shim.shim.state.share_partitions.dead_letters import (
    COPIES,
    MAKES,
    QUEUE,
    REJECTED,
    TAKES,
    ArchivedRecords,
    DeadLetters,
    _append_as_batch,
)
from tests.shim.play import Stage


def letters(stage: Stage, queue: str, copies: str = "true") -> list[Record]:
    """Reject the second of three records; return the records in the dead-letter queue."""
    cluster = stage.cluster
    cluster.configs.groups["g"] = {QUEUE: queue, COPIES: copies}
    stage.topic("orders")
    orders = stage.found("orders")
    _append_as_batch(
        orders.partitions[0], [Record(at, 5, b"k%d" % at, b"v%d" % at) for at in range(3)]
    )
    writer = DeadLetters(
        cluster.topics,
        cluster.configs,
        cluster.clock,
        cluster.create_topic_with_defaults,
        lambda _: True,
    )
    writer.write_to_queue(("g", orders.topic_id, 0), ArchivedRecords(1, 1, 2, REJECTED))
    found = cluster.topics.get(queue)
    if found is None:
        return []
    log = found.partitions[0].log
    payloads = log.read_batches(0, log.end_offset, 1 << 20, whole_first=True)
    return [
        row for payload in payloads for batch in iterate_batches(payload) for row in batch.records()
    ]


@pytest.mark.parametrize("copies", ["true", "false"])
def test_a_rejected_record_is_written_to_the_queue(copies: str) -> None:
    stage = Stage("4.4")
    stage.topic("dlq.q", configs={TAKES: "true"})
    [letter] = letters(stage, "dlq.q", copies)
    assert (letter.key, letter.value) == ((b"k1", b"v1") if copies == "true" else (None, None))
    assert letter.headers == (
        ("__dlq.errors.topic", b"orders"),
        ("__dlq.errors.partition", b"0"),
        ("__dlq.errors.offset", b"1"),
        ("__dlq.errors.group", b"g"),
        ("__dlq.errors.delivery.count", b"2"),
        ("__dlq.errors.message", b"Offset rejected by client."),
    )


def test_a_missing_queue_is_created_if_the_broker_permits_it() -> None:
    assert not letters(Stage("4.4"), "dlq.q")
    stage = Stage("4.4", properties={MAKES: "true"})
    assert letters(stage, "dlq.q")
    assert stage.found("dlq.q").configs[TAKES] == "true"
    assert not letters(Stage("4.4", properties={MAKES: "true"}), "other")


def test_a_topic_that_is_not_enabled_as_a_queue_gets_no_records() -> None:
    stage = Stage("4.4")
    stage.topic("dlq.q")
    assert not letters(stage, "dlq.q")


@pytest.mark.parametrize(
    ("told", "may"),
    [
        ({}, False),
        ({"inter.broker.listener.name": "SASL_PLAINTEXT"}, True),
        ({"security.inter.broker.protocol": "SASL_SSL"}, True),
    ],
)
def test_brokers_that_would_log_in_may_write_to_the_queue(
    told: dict[str, str], *, may: bool
) -> None:
    stage = Stage("4.4", properties=told)
    asks = create_inter_broker_check(stage.cluster.config, stage.cluster.policy)
    assert asks(Action(Operation.WRITE, ResourceType.TOPIC, "dlq.q")) is may
