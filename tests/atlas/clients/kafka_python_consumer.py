"""kafka-python consumes records in a group and commits."""

import os

from kafka import KafkaConsumer

consumer = KafkaConsumer(
    "orders",
    group_id="billing",
    auto_offset_reset="earliest",
    consumer_timeout_ms=30_000,
    bootstrap_servers=os.environ["KAFKA_BOOTSTRAP_SERVERS"],
    security_protocol="SASL_PLAINTEXT",
    sasl_mechanism="PLAIN",
    sasl_plain_username=os.environ["KAFKA_USER"],
    sasl_plain_password=os.environ["KAFKA_PASSWORD"],
)
count = 1  # the group has committed the first record
for _ in consumer:
    count += 1
    if count == 5:
        break
consumer.commit()
consumer.close()
assert count == 5
