"""A program: alice produces and bob consumes, with kafka-python; its argument is the address.

It runs in a process of its own, because kafka-python may leave a socket for the collector to close.
"""

import sys
from typing import Any

from kafka import KafkaConsumer, KafkaProducer


def main(address: str) -> None:
    settings: dict[str, Any] = {
        "bootstrap_servers": address,
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
    }
    alice = {"sasl_plain_username": "alice", "sasl_plain_password": "alice-secret"}
    bob = {"sasl_plain_username": "bob", "sasl_plain_password": "bob-secret"}
    producer = KafkaProducer(**settings, **alice)
    producer.send("orders", b"y").get(10)
    producer.close()
    first = {"auto_offset_reset": "earliest", "consumer_timeout_ms": 5000}
    consumer = KafkaConsumer("orders", group_id="bob-kp", **first, **settings, **bob)
    next(iter(consumer))
    consumer.close()


if __name__ == "__main__":
    main(sys.argv[1])
