"""Twenty tests, for pytest-xdist: each user writes to its own broker, or is denied."""

import pytest
from confluent_kafka import KafkaError, Producer

from kafka_shim.testing import KafkaBroker


@pytest.mark.parametrize("number", range(20))
def test_order(kafka_broker: KafkaBroker, number: int) -> None:
    user, is_allowed = f"user-{number}", number % 2 == 0
    kafka_broker.topics.create("orders")
    if is_allowed:
        kafka_broker.acls.add(principal=user, allow="Write", topic="orders")
    errors: list[KafkaError | None] = []
    producer = Producer(kafka_broker.config(user))
    producer.produce("orders", str(number), on_delivery=lambda error, _: errors.append(error))
    producer.flush(60)
    if is_allowed:
        assert errors == [None]
        assert [record.value for record in kafka_broker.topics.records("orders")] == [str(number)]
        assert kafka_broker.denials() == []
    else:
        assert errors[0] is not None
        assert errors[0].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
        kafka_broker.assert_denied(user, "Describe", topic="orders")
        [denial] = kafka_broker.denials()
        assert denial.principal == f"User:{user}"
