"""kafka-python produces records."""

import os

from kafka import KafkaProducer

producer = KafkaProducer(
    bootstrap_servers=os.environ["KAFKA_BOOTSTRAP_SERVERS"],
    security_protocol="SASL_PLAINTEXT",
    sasl_mechanism="PLAIN",
    sasl_plain_username=os.environ["KAFKA_USER"],
    sasl_plain_password=os.environ["KAFKA_PASSWORD"],
)
producer.send("orders", b"one").get(20)
producer.close()
