"""If the coordinator of a transaction stops, another broker completes the transaction."""

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer

from kafka_shim.client.client import connect
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_shim.testing import KafkaBroker, start

pytestmark = [pytest.mark.client, pytest.mark.timeout(120, func_only=True)]

TOPIC, NAME = "orders", "payments-1"
SECONDS = 30


@pytest.fixture(params=["2.8", "4.3"])
def cluster(request: pytest.FixtureRequest) -> Iterator[KafkaBroker]:
    with start(brokers=3, kafka_version=request.param, in_process=True) as broker:
        broker.topics.create(TOPIC, partitions=3, replication_factor=3)
        yield broker


def coordinator(cluster: KafkaBroker) -> int:
    alive = next(node for node in cluster.nodes.list() if node["is_alive"])
    with connect(alive["listeners"]["PLAINTEXT"]) as client:
        request = FindCoordinatorRequest(key=NAME, key_type=1)
        return int(client.send_request(ApiKey.FIND_COORDINATOR, request, 1).node_id)


def producer(cluster: KafkaBroker) -> Producer:
    return Producer(cluster.config(log_level=0) | {"transactional.id": NAME, "linger.ms": 0})


def publish(client: Producer, value: str) -> None:
    for partition in range(3):
        client.produce(TOPIC, value, partition=partition)
    client.flush(SECONDS)


def committed(cluster: KafkaBroker, count: int) -> list[str]:
    """Read this number of records with isolation level read_committed; return them sorted."""
    config = {"group.id": "readers", "auto.offset.reset": "earliest"}
    more = {"isolation.level": "read_committed"}
    reader = Consumer(cluster.config(log_level=0) | config | more)
    try:
        reader.subscribe([TOPIC])
        messages = [reader.poll(SECONDS) for _ in range(count)]
        return sorted((message.value() or b"").decode() for message in messages if message)
    finally:
        reader.close()


@pytest.mark.parametrize("ends_by", ["commit", "abort"])
def test_a_transaction_ends_at_another_coordinator(cluster: KafkaBroker, ends_by: str) -> None:
    client = producer(cluster)
    client.init_transactions(SECONDS)
    client.begin_transaction()
    publish(client, "first")
    stopped = coordinator(cluster)
    cluster.nodes.stop(stopped)
    assert coordinator(cluster) != stopped
    if ends_by == "commit":
        client.commit_transaction(SECONDS)
    else:
        client.abort_transaction(SECONDS)
    client.begin_transaction()
    publish(client, "second")
    client.commit_transaction(SECONDS)
    values = ["first"] * 3 if ends_by == "commit" else []
    values += ["second"] * 3
    assert committed(cluster, len(values)) == values


def test_a_transaction_is_fenced_by_the_next_producer_at_another_coordinator(
    cluster: KafkaBroker,
) -> None:
    first = producer(cluster)
    first.init_transactions(SECONDS)
    first.begin_transaction()
    publish(first, "left behind")
    cluster.nodes.stop(coordinator(cluster))
    second = producer(cluster)
    second.init_transactions(SECONDS)
    second.begin_transaction()
    publish(second, "kept")
    second.commit_transaction(SECONDS)
    assert committed(cluster, 3) == ["kept"] * 3


def test_a_transaction_continues_after_its_coordinator_restarts(cluster: KafkaBroker) -> None:
    client = producer(cluster)
    client.init_transactions(SECONDS)
    client.begin_transaction()
    publish(client, "before")
    stopped = coordinator(cluster)
    cluster.nodes.stop(stopped)
    cluster.nodes.start(stopped)
    publish(client, "after")
    client.commit_transaction(SECONDS)
    assert committed(cluster, 6) == ["after"] * 3 + ["before"] * 3
