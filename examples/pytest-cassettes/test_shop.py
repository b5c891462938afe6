"""The tests play what was recorded with a real Kafka; `make record` records it again."""

import pytest
from confluent_kafka import KafkaError, KafkaException
from shop import create_topic, publish, total


@pytest.mark.kafka_cassette("orders")
def test_orders_are_added_up(kafka_cassette):
    config = kafka_cassette.config()
    create_topic(config, "orders")
    assert publish(config, "orders", ["3", "4"]) == [0, 1]
    assert total(config, "orders", "accounting", 2) == 7


@pytest.mark.kafka_cassette("two-groups")
def test_a_group_continues_where_it_has_committed(kafka_cassette):
    config = kafka_cassette.config()
    create_topic(config, "sales")
    publish(config, "sales", ["1", "2"])
    assert total(config, "sales", "reports", 2) == 3
    publish(config, "sales", ["10"])
    assert total(config, "sales", "reports", 1) == 10
    assert total(config, "sales", "audits", 3) == 13


@pytest.mark.kafka_cassette("denied")
def test_alice_may_not_publish(kafka_cassette):
    create_topic(kafka_cassette.config(), "private")
    with pytest.raises(KafkaException) as denied:
        publish(kafka_cassette.config("alice"), "private", ["5"])
    assert denied.value.args[0].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
