"""confluent-kafka (librdkafka) consumes, produces and commits in one transaction."""

import os

from confluent_kafka import Consumer, Producer

login = {
    "bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"],
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.username": os.environ["KAFKA_USER"],
    "sasl.password": os.environ["KAFKA_PASSWORD"],
}
group = {"group.id": "billing", "auto.offset.reset": "earliest", "enable.auto.commit": False}
consumer = Consumer(login | group | {"isolation.level": "read_committed"})
consumer.subscribe(["orders"])
message = consumer.poll(40)
assert message is not None
assert message.error() is None, message.error()
producer = Producer(login | {"transactional.id": "billing-tx"})
producer.init_transactions(20)
producer.begin_transaction()
producer.produce("orders", message.value())
producer.send_offsets_to_transaction(
    consumer.position(consumer.assignment()), consumer.consumer_group_metadata(), 20
)
producer.commit_transaction(20)
consumer.close()
