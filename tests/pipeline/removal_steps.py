"""What three users do with kafka-python at the address in the argument; prints outcomes as JSON.

An outcome is what the program got: names, a count, or the name of the error. A program that lists
gets fewer names without an ACL, and no error.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import ConfigResource, ConfigResourceType, NewTopic
from kafka.errors import KafkaError

from tests.oracle.real_kafka import PASSWORDS

SECONDS = 8


def settings(address: str, user: str) -> dict[str, Any]:
    return {
        "bootstrap_servers": address,
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": user,
        "sasl_plain_password": PASSWORDS[user],
    }


def _producer(address: str, user: str, **more: Any) -> KafkaProducer:
    return KafkaProducer(**settings(address, user), max_block_ms=SECONDS * 1_000, **more)


def _produce(address: str) -> str:
    _producer(address, "alice").send("orders", b"x").get(SECONDS)
    return "produced"


def _list_topics(address: str) -> list[str]:
    return sorted(KafkaConsumer(**settings(address, "alice")).topics())


def _partitions(address: str) -> list[int] | None:
    partitions = KafkaConsumer(**settings(address, "alice")).partitions_for_topic("catalog")
    return sorted(partitions) if partitions else None


def _consume(address: str) -> str:
    consumer = KafkaConsumer(
        "orders",
        **settings(address, "bob"),
        group_id="billing",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        session_timeout_ms=6_000,
    )
    deadline = time.monotonic() + 3 * SECONDS
    try:
        while time.monotonic() < deadline:
            if consumer.poll(1_000):
                consumer.commit()
                return "consumed"
        return "nothing"
    finally:  # else the next run waits until the group has lost this member
        consumer.close()


def _list_groups(address: str, user: str) -> list[str]:
    groups = KafkaAdminClient(**settings(address, user)).list_groups()
    return sorted(str(group["group_id"]) for group in groups)


def _describe_configs(address: str) -> str:
    admin = KafkaAdminClient(**settings(address, "carol"))
    topic = ConfigResource(ConfigResourceType.TOPIC, "orders")
    configs = admin.describe_configs([topic], config_filter="all")
    return "described" if "retention.ms" in str(configs) else "nothing"


def _create(address: str) -> str:
    KafkaAdminClient(**settings(address, "carol")).create_topics([NewTopic("invoices", 1, 1)])
    return "created"


def _delete(address: str) -> str:
    KafkaAdminClient(**settings(address, "carol")).delete_topics(["invoices"])
    return "deleted"


def _transaction(address: str) -> str:
    producer = _producer(address, "carol", transactional_id="tx-1")
    producer.init_transactions()
    producer.begin_transaction()
    producer.send("orders", b"x").get(SECONDS)
    producer.commit_transaction()
    return "committed"


STEPS: dict[str, Callable[[str], Any]] = {
    "alice produces": _produce,
    "alice lists topics": _list_topics,
    "alice gets partitions": _partitions,
    "bob consumes": _consume,
    "bob lists groups": lambda address: _list_groups(address, "bob"),
    "carol describes configs": _describe_configs,
    "carol creates a topic": _create,
    "carol deletes a topic": _delete,
    "carol commits": _transaction,
    "carol lists groups": lambda address: _list_groups(address, "carol"),
}


def main(address: str) -> None:
    outcomes = {}
    for name, step in STEPS.items():
        try:
            outcomes[name] = step(address)
        except (KafkaError, ValueError, KeyError, RuntimeError) as error:
            outcomes[name] = type(error).__name__
    sys.stdout.write(json.dumps(outcomes))
    sys.stdout.flush()
    os._exit(0)  # clients that failed leave threads


if __name__ == "__main__":
    main(sys.argv[1])
