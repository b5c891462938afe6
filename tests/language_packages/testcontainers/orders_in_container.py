"""A test with a container, which runs against Docker or the stand-in for it."""

import os

import pytest
from confluent_kafka import KafkaError, Producer

from kafka_shim.testing.testcontainers import KafkaShimContainer

IMAGE = os.environ["KAFKA_SHIM_IMAGE"]


def publish(config):
    errors = []
    producer = Producer(config)
    producer.produce("orders", b"order-1", on_delivery=lambda error, _: errors.append(error))
    producer.flush(30)
    return errors[0]


@pytest.mark.parametrize("release", ["3.9", "4.3"])
def test_alice_may_publish_and_bob_may_not(release):
    container = KafkaShimContainer(IMAGE).with_kafka_version(release).with_topic("orders")
    container.with_user("alice", "alice-secret").with_user("bob", "bob-secret")
    container.with_acl(principal="User:alice", allow=["Write"], topic="orders")
    with container as kafka:
        assert publish(kafka.config("alice")) is None
        assert publish(kafka.config("bob")).code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
        assert publish(kafka.config()) is None
        assert kafka.call("GET", "/topics")["topics"][0]["end_offsets"] == [2]
        assert kafka.call("GET", "/state")["release"] == release
