"""Consumers of every client follow leaders and coordinators that move, also if a broker stops.

Since KIP-392 consumers may stay with a broker that has a replica, so the topic has just one.
"""

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import Producer

from kafka_shim.testing import KafkaBroker, start
from tests.clients.broker import Bootstrap
from tests.clients.driver import Driver, started
from tests.clients.test_logins import CLIENTS

pytestmark = [pytest.mark.client, pytest.mark.timeout(300, func_only=True)]

NOT_LEADER_OR_FOLLOWER = 6
TOPIC, GROUP = "orders", "readers"
CONSUME_SECONDS = 40


@pytest.fixture
def cluster() -> Iterator[KafkaBroker]:
    with start(brokers=3, in_process=True) as broker:
        broker.topics.create(TOPIC, replication_factor=1)
        yield broker


class Consuming(threading.Thread):
    """A client that reads three values in a group, in the background."""

    def __init__(self, driver: Driver, options: dict[str, str]) -> None:
        super().__init__(daemon=True)
        self._consume = partial(driver.consume, TOPIC, GROUP, 3, None, CONSUME_SECONDS, **options)
        self._outcome: list[str] | Exception = []
        self.start()

    def run(self) -> None:
        try:
            self._outcome = self._consume()
        except Exception as error:  # noqa: BLE001 -- result() raises it
            self._outcome = error

    def result(self) -> list[str]:
        self.join()
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome


def publish(cluster: KafkaBroker, value: str) -> None:
    """Produce with a new producer, which has no stale leader."""
    errors: list[object] = []
    producer = Producer(cluster.config(log_level=0))
    producer.produce(TOPIC, value, on_delivery=lambda error, _: errors.append(error))
    producer.flush(20)
    [error] = errors
    assert error is None  # `==` with None fails in confluent-kafka


def leader(cluster: KafkaBroker) -> int:
    [orders] = [topic for topic in cluster.topics.list() if topic.name == TOPIC]
    return int(orders.leaders[0])


def eventually(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, f"never seen: {what}"
        time.sleep(0.02)


def reads_from(cluster: KafkaBroker, node_id: int, offset: int) -> bool:
    """Return whether a client has sent a Fetch from this offset to this broker."""
    return any(
        row.node_id == node_id and partition["fetchOffset"] == offset
        for row in cluster.requests(api="Fetch")
        for topic in row.request["topics"]
        for partition in topic["partitions"]
    )


@pytest.mark.parametrize(
    ("client", "options"),
    [*((name, {}) for name in CLIENTS), ("java", {"group_protocol": "consumer"})],
)
def test_a_consumer_follows_its_leader(
    cluster: KafkaBroker, tmp_path: Path, client: str, options: dict[str, str]
) -> None:
    bootstrap = Bootstrap(cluster.bootstrap_servers, cluster.listeners["SASL_PLAINTEXT"])
    first = leader(cluster)
    second, third = first % 3 + 1, (first + 1) % 3 + 1
    with started(CLIENTS[client].command(tmp_path), bootstrap, tmp_path) as driver:
        consuming = Consuming(driver, options)
        eventually(lambda: reads_from(cluster, first, 0), "a fetch of the first value")
        cluster.nodes.move_coordinator(GROUP, third)
        publish(cluster, "one")
        eventually(lambda: reads_from(cluster, first, 1), "a fetch behind the first value")
        cluster.nodes.move_leader(TOPIC, 0, second)
        publish(cluster, "two")
        eventually(lambda: reads_from(cluster, second, 2), "a fetch from the new leader")
        cluster.nodes.stop(first)
        cluster.nodes.move_leader(TOPIC, 0, third)
        cluster.nodes.stop(second)
        publish(cluster, "three")
        assert consuming.result() == ["one", "two", "three"]
    told = {code for row in cluster.requests(api="Fetch") for code in row.errors or ()}
    assert told == {NOT_LEADER_OR_FOLLOWER}
