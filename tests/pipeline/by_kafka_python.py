"""Let alice produce and bob consume with kafka-python, at the address in the first argument.

It runs in its own process, because kafka-python may leave sockets open for the garbage collector.
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
