"""Several brokers: clients follow leaders and coordinators that move, and brokers that stop."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from kafka_shim.testing import KafkaBroker, start
from kafka_shim.testing.transport import BrokerError
from tests.support.commands import is_listening

pytestmark = [pytest.mark.client, pytest.mark.timeout(300, func_only=True)]

NOT_LEADER_OR_FOLLOWER = 6
NOT_COORDINATOR = 16
NOT_ENOUGH_REPLICAS = 19
STRICT = {"min.insync.replicas": "3"}


@pytest.fixture(scope="module", params=[False, True], ids=["own process", "in process"])
def shared(request: pytest.FixtureRequest) -> Iterator[KafkaBroker]:
    with start(brokers=3, in_process=request.param) as broker:
        yield broker


@pytest.fixture
def broker(shared: KafkaBroker) -> KafkaBroker:
    shared.reset()
    shared.topics.create("orders", replication_factor=3)
    return shared


@pytest.fixture
def producer(broker: KafkaBroker) -> Producer:
    # by default librdkafka waits seconds for a broker that does not respond
    return Producer(broker.config() | {"linger.ms": 0, "log_level": 0})


def publish(producer: Producer, value: str) -> None:
    errors: list[Any] = []
    producer.produce("orders", value, on_delivery=lambda error, _: errors.append(error))
    assert producer.flush(20) == 0
    [error] = errors
    assert error is None  # comparing None by `==` fails in confluent-kafka


def leader(broker: KafkaBroker) -> int:
    [orders] = [topic for topic in broker.topics.list() if topic.name == "orders"]
    return int(orders.leaders[0])


def produced(broker: KafkaBroker) -> list[Any]:
    return broker.requests(api="Produce")


def other_than(node_id: int) -> int:
    return node_id % 3 + 1


def alive(broker: KafkaBroker) -> dict[int, bool]:
    return {row["node_id"]: row["is_alive"] for row in broker.nodes.list()}


def test_a_producer_follows_the_leader(broker: KafkaBroker, producer: Producer) -> None:
    publish(producer, "one")
    old = leader(broker)
    assert broker.nodes.move_leader("orders", 0, other_than(old)) == 1
    publish(producer, "two")
    rows = produced(broker)
    refused = [row.node_id for row in rows if row.errors == [NOT_LEADER_OR_FOLLOWER]]
    stored = [row.node_id for row in rows if row.errors == []]
    assert refused == [old]
    assert stored == [old, other_than(old)]


def test_a_producer_continues_when_the_leader_stops(
    broker: KafkaBroker, producer: Producer
) -> None:
    publish(producer, "one")
    old = leader(broker)
    broker.nodes.stop(old)
    assert alive(broker) == {node_id: node_id != old for node_id in (1, 2, 3)}
    publish(producer, "two")
    broker.nodes.start(old)
    assert leader(broker) != old
    publish(producer, "three")


def test_a_group_continues_when_its_coordinator_moves(
    broker: KafkaBroker, producer: Producer
) -> None:
    consumer = Consumer(
        broker.config()
        | {
            "group.id": "readers",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "heartbeat.interval.ms": 100,
            # librdkafka 2.15 sends FindCoordinator after a Fetch on the same connection. If the
            # Fetch waits longer than the retry interval of a commit (100 ms), the commit and
            # FindCoordinator keep closing each other's connection.
            "fetch.wait.max.ms": 10,
            "log_level": 0,
        }
    )
    consumer.subscribe(["orders"])
    for number, value in enumerate(["one", "two", "three"]):
        publish(producer, value)
        message = consumer.poll(20)
        assert message is not None
        assert message.error() is None
        assert message.value() == value.encode()
        consumer.commit(asynchronous=False)
        asked = [row.node_id for row in broker.requests(api="OffsetCommit") if not row.errors]
        assert len(asked) == number + 1
        if number == 0:
            broker.nodes.move_coordinator("readers", other_than(asked[-1]))
        elif number == 1:
            assert asked == [asked[0], other_than(asked[0])]
            broker.nodes.stop(asked[-1])
    consumer.close()
    told = [code for row in broker.requests() for code in row.errors or ()]
    assert NOT_COORDINATOR in told
    assert not broker.denials()


def test_a_producer_waits_for_enough_replicas_in_sync(broker: KafkaBroker) -> None:
    broker.topics.create("strict", replication_factor=3, configs=STRICT)
    outcome: list[Any] = []
    producer = Producer(broker.config() | {"linger.ms": 0, "log_level": 0})
    broker.nodes.stop(1)
    producer.produce("strict", b"one", on_delivery=lambda error, _: outcome.append(error))
    deadline = time.monotonic() + 20
    while not any(NOT_ENOUGH_REPLICAS in (row.errors or ()) for row in produced(broker)):
        assert time.monotonic() < deadline
        producer.poll(0.05)
    assert outcome == []
    broker.nodes.start(1)
    assert producer.flush(20) == 0
    [error] = outcome
    assert error is None  # comparing None by `==` fails in confluent-kafka


def test_a_topic_with_replicas_on_a_stopped_broker_is_led_by_another(broker: KafkaBroker) -> None:
    broker.nodes.stop(2)
    admin = AdminClient(broker.config(log_level=0))
    for name, replicas in (("two", [2, 3]), ("alone", [2])):
        given = NewTopic(name, 1, replica_assignment=[replicas])
        admin.create_topics([given])[name].result(20)

    def leaders() -> dict[str, list[int]]:
        found = {topic.name: topic.leaders for topic in broker.topics.list()}
        return {name: found[name] for name in ("two", "alone")}

    assert leaders() == {"two": [3], "alone": [-1]}
    broker.nodes.start(2)
    assert leaders() == {"two": [3], "alone": [2]}


def test_a_stopped_broker_refuses_connections_and_restarts_with_its_address(
    broker: KafkaBroker,
) -> None:
    [row] = [row for row in broker.nodes.list() if row["node_id"] == 2]
    address = row["listeners"]["PLAINTEXT"]
    for _ in range(2):  # stopping or starting twice is the same as once
        broker.nodes.stop(2)
        assert not is_listening(address)
    for _ in range(2):
        broker.nodes.start(2)
        assert is_listening(address)
    assert alive(broker)[2]


def test_a_reset_starts_stopped_brokers(broker: KafkaBroker) -> None:
    snapshot = broker.snapshot()
    for again in (broker.reset, lambda: broker.restore(snapshot)):
        broker.nodes.stop(1)
        broker.nodes.stop(3)
        again()
        assert all(alive(broker).values())
    assert leader(broker) in (1, 2, 3)


def test_restoring_a_snapshot_elects_missing_leaders(broker: KafkaBroker) -> None:
    broker.topics.create("alone", replication_factor=1)
    [alone] = [topic for topic in broker.topics.list() if topic.name == "alone"]
    broker.nodes.stop(alone.leaders[0])
    [leaderless] = [topic for topic in broker.topics.list() if topic.name == "alone"]
    assert leaderless.leaders == [-1]
    broker.restore(broker.snapshot())
    [found] = [topic for topic in broker.topics.list() if topic.name == "alone"]
    assert found.leaders == alone.leaders


@pytest.mark.parametrize(
    ("verb", "text"),
    [
        (lambda nodes: nodes.stop(4), "unknown broker 4; expected one of 1, 2, 3"),
        (lambda nodes: nodes.start("one"), "unknown broker one"),
        (lambda nodes: nodes.move_leader("orders", 7, 1), "unknown partition 7 of topic `orders`"),
        (lambda nodes: nodes.move_leader("none", 0, 1), "unknown partition 0 of topic `none`"),
        (lambda nodes: nodes.move_leader("orders", 0, 9), "unknown broker 9"),
        (lambda nodes: nodes.move_coordinator("readers", 9), "unknown broker 9"),
    ],
)
def test_unknown_nodes_and_partitions_are_rejected(
    broker: KafkaBroker, verb: Any, text: str
) -> None:
    with pytest.raises(BrokerError, match=text):
        verb(broker.nodes)


def test_a_stopped_broker_cannot_lead(broker: KafkaBroker) -> None:
    broker.nodes.stop(2)
    with pytest.raises(BrokerError, match="broker 2 is stopped, so it cannot lead"):
        broker.nodes.move_leader("orders", 0, 2)


def test_with_all_brokers_stopped_the_control_api_answers(broker: KafkaBroker) -> None:
    for node_id in (1, 2, 3):
        broker.nodes.stop(node_id)
    assert broker.health().status == "ok"
    assert leader(broker) == -1
