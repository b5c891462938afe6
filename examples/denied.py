"""The first denied test: alice may write to orders, carol may not. Needs `make run` elsewhere."""

import socket
import sys

from confluent_kafka import KafkaError, Producer

BOOTSTRAP = sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:9093"


def produce(user: str) -> str:
    """What becomes of one record of this user."""
    outcome: list[str] = []
    producer = Producer(
        {
            "bootstrap.servers": BOOTSTRAP,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": user,
            "sasl.password": f"{user}-secret",
            "message.timeout.ms": 10_000,
            "log_level": 0,
        }
    )

    def delivered(error: KafkaError | None, _: object) -> None:
        outcome.append("delivered" if error is None else error.name())

    producer.produce("orders", b"hello", on_delivery=delivered)
    producer.flush(15)
    return outcome[0] if outcome else "no answer"


host, _, port = BOOTSTRAP.rpartition(":")
try:
    socket.create_connection((host, int(port)), 5).close()
except OSError as error:
    sys.exit(
        f"no broker at {BOOTSTRAP} ({error.strerror}): start one by `make run`, and wait for it"
    )

for name in ("alice", "carol"):
    print(f"{name}: {produce(name)}")
