"""Permissions and trouble, as tests: each has a broker as new, and no container."""

import pytest
from confluent_kafka import Consumer
from orders import TOPIC, NotAllowedError, Publisher

MAY_WRITE = {"principal": "User:shop", "allow": ["Write", "Describe"], "topic": TOPIC}


@pytest.fixture
def publisher(kafka_broker):
    kafka_broker.topics.create(TOPIC)
    return Publisher(kafka_broker.config("shop"))


def stored(broker):
    """Return what the topic holds, for a client without authentication."""
    consumer = Consumer(broker.config(**{"group.id": "check", "auto.offset.reset": "earliest"}))
    consumer.subscribe([TOPIC])
    topic = next(topic for topic in broker.topics.list() if topic.name == TOPIC)
    found = []
    while len(found) < sum(topic.end_offsets):
        message = consumer.poll(1)
        if message is not None:
            assert message.error() is None
            found.append(message.value().decode())
    consumer.close()
    return found


@pytest.mark.kafka_acls(MAY_WRITE)
def test_an_order_is_published(kafka_broker, publisher):
    publisher.publish("order-1")
    assert stored(kafka_broker) == ["order-1"]


def test_without_permission_the_publisher_says_so(kafka_broker, publisher):
    with pytest.raises(NotAllowedError, match="may not write to orders"):
        publisher.publish("order-1")
    assert {denial.principal for denial in kafka_broker.denials()} == {"User:shop"}
    assert stored(kafka_broker) == []


@pytest.mark.kafka_acls(MAY_WRITE)
def test_a_grant_that_is_lost_in_mid_stream_loses_no_order(kafka_broker, publisher):
    kafka_broker.faults.revoke(MAY_WRITE, after=2, api="Produce")
    left = publisher.publish_all(["order-1", "order-2", "order-3", "order-4"])
    assert left == ["order-3", "order-4"]
    assert stored(kafka_broker) == ["order-1", "order-2"]


@pytest.mark.kafka_acls(MAY_WRITE)
def test_an_answer_that_is_lost_stores_no_order_twice(kafka_broker, publisher):
    fault = kafka_broker.faults.disconnect("after", api="Produce")
    publisher.publish("order-1")
    assert fault.fired == 1
    assert stored(kafka_broker) == ["order-1"]


@pytest.mark.kafka_acls(MAY_WRITE)
@pytest.mark.parametrize("kafka_broker", ["2.8", "3.9", "4.0"], indirect=True)
def test_write_is_enough_since_kip_679(publisher):
    publisher.publish("order-1")
    assert publisher.published == 1
