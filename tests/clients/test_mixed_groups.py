"""Consumers of both protocols in one group (KIP-848): one joins, one leaves, no record is lost."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from kafka_shim.testing import KafkaBroker, start

pytestmark = [pytest.mark.client, pytest.mark.timeout(300, func_only=True)]

TOPIC, GROUP = "orders", "readers"
CLASSIC: dict[str, Any] = {
    "group.protocol": "classic",
    "heartbeat.interval.ms": 200,
    "session.timeout.ms": 6000,
}
MODERN: dict[str, Any] = {"group.protocol": "consumer"}
QUICK = {
    "group.consumer.min.heartbeat.interval.ms": "200",
    "group.consumer.heartbeat.interval.ms": "200",
    "group.consumer.assignment.interval.ms": "0",
}


@pytest.fixture
def broker() -> Iterator[KafkaBroker]:
    with start(kafka_version="4.3", properties=QUICK, in_process=True) as broker:
        broker.topics.create(TOPIC, partitions=2)
        yield broker


class Reader:
    """A consumer and the values that it has read."""

    def __init__(self, broker: KafkaBroker, options: dict[str, Any]) -> None:
        given = {"group.id": GROUP, "auto.offset.reset": "earliest", "log_level": 0}
        self.consumer = Consumer(broker.config() | given | options)
        self.consumer.subscribe([TOPIC])
        self.values: list[str] = []

    @property
    def partitions(self) -> list[int]:
        return sorted(partition.partition for partition in self.consumer.assignment())

    def poll(self) -> None:
        message = self.consumer.poll(0.05)
        if message is not None:
            value = message.value()
            assert message.error() is None
            assert value is not None
            self.values.append(value.decode())


def publish(broker: KafkaBroker, name: str) -> None:
    """Produce a value to each partition."""
    producer = Producer(broker.config(log_level=0))
    for partition in (0, 1):
        producer.produce(TOPIC, f"{name}{partition}", partition=partition)
    assert producer.flush(20) == 0


def until(condition: Callable[[], bool], *readers: Reader) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, [
            (reader.partitions, reader.values) for reader in readers
        ]
        for reader in readers:
            reader.poll()


@pytest.mark.parametrize("strategy", ["range", "cooperative-sticky"])
@pytest.mark.parametrize("order", ["classic first", "classic last"])
def test_one_member_leaves_and_the_other_continues(
    broker: KafkaBroker, order: str, strategy: str
) -> None:
    classic = CLASSIC | {"partition.assignment.strategy": strategy}
    options = [classic, MODERN] if order == "classic first" else [MODERN, classic]
    first = Reader(broker, options[0])
    until(lambda: first.partitions == [0, 1], first)
    publish(broker, "a")
    until(lambda: sorted(first.values) == ["a0", "a1"], first)
    second = Reader(broker, options[1])
    until(lambda: len(first.partitions) == len(second.partitions) == 1, first, second)
    publish(broker, "b")
    until(lambda: len(first.values) == 3 and len(second.values) == 1, first, second)
    first.consumer.close()
    until(lambda: second.partitions == [0, 1], second)
    publish(broker, "c")
    until(lambda: len(second.values) == 3, second)
    second.consumer.close()
    assert sorted(first.values + second.values) == ["a0", "a1", "b0", "b1", "c0", "c1"]
