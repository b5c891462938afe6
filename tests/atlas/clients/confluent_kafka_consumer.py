"""confluent-kafka (librdkafka) consumes records in a group and commits."""

import os
import time

from confluent_kafka import Consumer

consumer = Consumer(
    {
        "bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"],
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": os.environ["KAFKA_USER"],
        "sasl.password": os.environ["KAFKA_PASSWORD"],
        "group.id": "billing",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
    }
)
consumer.subscribe(["orders"])
count, deadline = 1, time.monotonic() + 40  # the group has committed the first record
while count < 5 and time.monotonic() < deadline:
    message = consumer.poll(1)
    if message is not None and message.error() is None:
        count += 1
        consumer.commit(asynchronous=False)
consumer.close()
assert count == 5
