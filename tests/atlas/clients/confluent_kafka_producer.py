"""confluent-kafka (librdkafka) produces records with an idempotent producer."""

import os

from confluent_kafka import Producer

producer = Producer(
    {
        "bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"],
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": os.environ["KAFKA_USER"],
        "sasl.password": os.environ["KAFKA_PASSWORD"],
        "enable.idempotence": True,
        "message.timeout.ms": 20_000,
    }
)
errors: list[object] = []
producer.produce("orders", b"one", on_delivery=lambda error, _: errors.append(error))
producer.flush(30)
assert errors == [None], errors
