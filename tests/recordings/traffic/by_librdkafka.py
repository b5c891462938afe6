"""Let carol and alice use librdkafka, at the address in the argument."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaException,
    Producer,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, OffsetSpec, ResourceType

from tests.recordings.traffic.grants import PASSWORDS

SECONDS = 10
_Settings = dict[str, Any]


def settings(address: str, user: str, **more: Any) -> _Settings:
    found = {
        "bootstrap.servers": address,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": user,
        "sasl.password": PASSWORDS[user],
        "topic.metadata.refresh.fast.interval.ms": 1000,
        "retry.backoff.ms": 500,
    }
    return found | {name.replace("_", "."): value for name, value in more.items()}


def main(address: str) -> None:
    _produce(address, "alice", "orders", 60)
    _produce(address, "alice", "orders", 20, acks=0)
    _produce(address, "alice", "returns", 30, enable_idempotence=True)
    for topic in ("payments", "secret", "vault", "seen-only", "auto-one", "nowhere"):
        _produce(address, "alice", topic, 3)
    _produce(address, "alice", "payments", 3, acks=0)
    _produce(address, "bob", "orders", 3, enable_idempotence=True)
    _consume(address, "bob", "billing", ["orders", "returns"], 60)
    _consume(address, "bob", "billing-eager", ["orders", "payments", "secret"], 40)
    _consume(address, "bob", "billing-late", ["orders"], 40, group_protocol="consumer")
    _consume(address, "bob", "billing-late", ["secret"], 1, group_protocol="consumer")
    _consume(address, "bob", "others", ["orders"], 1)
    _assigned(address)
    _transactions(address)
    _administer(address)


@contextlib.contextmanager
def refused() -> Iterator[None]:
    """End a client's part of the run, but not the program, if a request is denied."""
    with contextlib.suppress(KafkaException, SystemError, RuntimeError):
        yield


def _produce(address: str, user: str, topic: str, count: int, **more: Any) -> None:
    producer = Producer(settings(address, user, message_timeout_ms=3000, **more))
    with refused():
        for number in range(count):
            producer.produce(topic, f"{topic} {number}".encode())
            producer.poll(0)
        producer.flush(5)


def _consume(
    address: str, user: str, group: str, topics: list[str], count: int, **more: Any
) -> None:
    own = {"group_id": group, "auto_offset_reset": "earliest", "enable_auto_commit": False}
    consumer = Consumer(settings(address, user, **own, **more))
    consumer.subscribe(topics)
    got, deadline = 0, time.monotonic() + SECONDS
    with refused():
        while got < count and time.monotonic() < deadline:
            message = consumer.poll(0.5)
            if message is not None and message.error() is None:
                got += 1
            if got and got % 20 == 0:
                consumer.commit(asynchronous=False)
    with refused():
        consumer.close()


def _assigned(address: str) -> None:
    """Consume assigned partitions of topics that the user may and may not read, without a group."""
    own = {"group_id": "billing", "auto_offset_reset": "earliest", "enable_auto_commit": False}
    consumer = Consumer(settings(address, "bob", **own))
    topics = ("orders", "payments", "secret", "nowhere")
    consumer.assign([TopicPartition(topic, 0, 0) for topic in topics])
    deadline = time.monotonic() + 4
    while time.monotonic() < deadline:
        with refused():
            consumer.poll(0.5)
    for topic in topics:
        with refused():
            consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=5)
    with refused():
        consumer.committed([TopicPartition(topic, 0) for topic in topics], timeout=5)
    consumer.close()


def _transactions(address: str) -> None:
    own = {"group_id": "invoicing", "auto_offset_reset": "earliest", "enable_auto_commit": False}
    consumer = Consumer(settings(address, "carol", isolation_level="read_committed", **own))
    consumer.subscribe(["orders"])
    producer = Producer(settings(address, "carol", transactional_id="invoicing-1"))
    producer.init_transactions(SECONDS)
    for number in range(6):
        message = consumer.poll(5)
        producer.begin_transaction()
        with refused():
            producer.produce("invoices", b"" if message is None else message.value())
            producer.send_offsets_to_transaction(
                consumer.position(consumer.assignment()), consumer.consumer_group_metadata(), 5
            )
            if number % 3 == 2:
                producer.abort_transaction(SECONDS)
            else:
                producer.commit_transaction(SECONDS)
    consumer.close()
    for transactional_id, topic in (("invoicing-2", "secret"), ("payroll", "invoices")):
        other = Producer(settings(address, "carol", transactional_id=transactional_id))
        with refused():
            other.init_transactions(SECONDS)
            other.begin_transaction()
            other.produce("invoices", b"1")
            other.produce(topic, b"2")
            other.commit_transaction(SECONDS)
        with refused():
            other.abort_transaction(SECONDS)


def _administer(address: str) -> None:
    for user in ("admin", "dave", "bob"):
        admin = AdminClient(settings(address, user, socket_timeout_ms=8000))
        for ask in _questions(admin):
            with refused():
                _results(ask())


def _results(response: Any) -> None:
    futures = response.values() if isinstance(response, dict) else [response]
    for future in futures:
        with refused():
            if hasattr(future, "result"):
                future.result(SECONDS)


def _questions(admin: AdminClient) -> Iterator[Callable[[], Any]]:
    """Yield requests of an administrator's tool."""
    groups = ["billing", "billing-late", "stale"]
    yield lambda: admin.list_topics(timeout=5)
    yield lambda: admin.list_topics("orders", timeout=5)
    yield lambda: admin.describe_cluster(include_authorized_operations=True)
    wanted = TopicCollection(["orders", "secret", "gone-seen", "kept"])
    yield lambda: admin.describe_topics(wanted, include_authorized_operations=True)
    yield lambda: admin.describe_topics(wanted)
    yield admin.list_consumer_groups
    yield lambda: admin.describe_consumer_groups(groups, include_authorized_operations=True)
    for group in groups:
        for partitions in (None, [TopicPartition("orders", 0), TopicPartition("secret", 0)]):
            asked = [ConsumerGroupTopicPartitions(group, partitions)]
            yield partial(admin.list_consumer_group_offsets, asked)
    for kind, name in ((ResourceType.TOPIC, "orders"), (ResourceType.TOPIC, "secret")):
        yield partial(admin.describe_configs, [ConfigResource(kind, name)])
    yield lambda: admin.describe_configs([ConfigResource(ResourceType.BROKER, "1")])
    latest = {TopicPartition(name, 0): OffsetSpec.latest() for name in ("orders", "secret")}
    yield lambda: admin.list_offsets(latest)
    both = [NewTopic("dave-one", 1, 1), NewTopic("made-one", 1, 1), NewTopic("theirs", 1, 1)]
    yield lambda: admin.create_topics(both, validate_only=True)
    yield lambda: admin.create_topics(both[:2])
    yield lambda: admin.delete_topics(["dave-one", "made-one", "secret-two", "gone-deletable"])


if __name__ == "__main__":
    main(sys.argv[1])
