"""Let dave, erin and bob use kafka-python, at the address in the argument."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ConfigResource,
    ConfigResourceType,
    NewPartitions,
    NewTopic,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
)
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata

from tests.recordings.traffic.grants import PASSWORDS

SECONDS = 8


def settings(address: str, user: str) -> dict[str, Any]:
    return {
        "bootstrap_servers": address,
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": user,
        "sasl_plain_password": PASSWORDS[user],
    }


def main(address: str) -> None:
    _produce(address, "alice", ("orders", "returns", "secret", "payments"))
    _consume(address, "bob", "billing", ["orders", "returns"])
    _consume(address, "bob", "billing-slow", ["orders"])
    _consume(address, "bob", "others", ["orders"])
    _consume(address, "erin", "erin-readers", ["shared", "orders"])
    _consume(address, "erin", "erin-readers", ["secret"])
    for user in ("dave", "erin", "admin"):
        _administer(address, user)


@contextlib.contextmanager
def refused() -> Iterator[None]:
    """End a client's part of the run, but not the program, if a request is denied."""
    try:
        yield
    except (KafkaError, ValueError, TypeError, KeyError, RuntimeError) as error:
        sys.stdout.write(f"{type(error).__name__}: {str(error)[:200]}\n")


def _produce(address: str, user: str, topics: tuple[str, ...]) -> None:
    for is_idempotent in (True, False):
        producer = KafkaProducer(
            **settings(address, user), max_block_ms=3000, enable_idempotence=is_idempotent
        )
        for topic in topics:
            with refused():
                producer.send(topic, b"y").get(5)
        producer.close(3)


def _consume(address: str, user: str, group: str, topics: list[str]) -> None:
    consumer = KafkaConsumer(
        *topics,
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        **settings(address, user),
    )
    deadline = time.monotonic() + 5
    with refused():
        while time.monotonic() < deadline:
            if consumer.poll(timeout_ms=500):
                consumer.commit()
    with refused():
        consumer.end_offsets([TopicPartition(topic, 0) for topic in (*topics, "payments")])
    consumer.close()


def _administer(address: str, user: str) -> None:
    admin = KafkaAdminClient(**settings(address, user), request_timeout_ms=6000)
    for ask in _questions(admin):
        with refused():
            ask()
    admin.close()


def _questions(admin: KafkaAdminClient) -> Iterator[Callable[[], Any]]:
    names = ["old-1", "old-2", "old-3", "gone-seen", "gone-deletable", "gone-unseen"]
    yield admin.list_topics
    yield lambda: admin.describe_topics(["orders", "secret", "gone-seen"])
    yield admin.describe_cluster
    yield admin.list_groups
    yield lambda: admin.describe_groups(["billing", "stale", "erin-readers"])
    yield lambda: admin.list_group_offsets("billing")
    stale = {TopicPartition("orders", 0): OffsetAndMetadata(3, "", -1)}
    yield lambda: admin.alter_group_offsets("stale", stale)
    yield lambda: admin.alter_group_offsets("erin-reset", stale)
    yield lambda: admin.delete_group_offsets("erin-reset", [TopicPartition("orders", 0)])
    for topic in ("dave-two", "made-two", "erin-two", "theirs"):
        yield partial(admin.create_topics, [NewTopic(topic, 1, 1)])
    for topic in ("dave-two", "made-two", "orders"):
        yield partial(admin.create_partitions, {topic: NewPartitions(2)})
    for name in ("orders", "secret"):
        topic = ConfigResource(ConfigResourceType.TOPIC, name)
        yield partial(admin.describe_configs, [topic])
        changed = ConfigResource(ConfigResourceType.TOPIC, name, {"retention.ms": "600000"})
        yield partial(admin.alter_configs, [changed])
    broker = ConfigResource(ConfigResourceType.BROKER, "1")
    yield lambda: admin.describe_configs([broker])
    for topic in ("dave-two", "orders", "secret"):
        offsets = {TopicPartition(topic, 0): 0}
        yield partial(admin.delete_records, offsets)
    pattern = ResourcePattern(ResourceType.TOPIC, "dave-two")
    acl = ACL("User:frank", "*", ACLOperation.READ, ACLPermissionType.ALLOW, pattern)
    any_acl = ACLFilter(
        None,
        None,
        ACLOperation.ANY,
        ACLPermissionType.ANY,
        ResourcePatternFilter(ResourceType.TOPIC, "dave-two", pattern.pattern_type),
    )
    yield lambda: admin.create_acls([acl])
    yield lambda: admin.describe_acls(any_acl)
    yield lambda: admin.delete_acls([any_acl])
    yield admin.describe_log_dirs
    yield admin.list_partition_reassignments
    yield admin.list_transactions
    yield lambda: admin.describe_transactions(["invoicing-1", "payroll"])
    yield lambda: admin.describe_producers([TopicPartition("orders", 0), TopicPartition("kept", 0)])
    yield lambda: admin.describe_user_scram_credentials(["dave"])
    yield admin.describe_metadata_quorum
    yield admin.list_config_resources
    yield lambda: admin.delete_groups(["erin-readers", "stale", "billing-slow"])
    for name in names:
        yield partial(admin.delete_topics, [name])
    yield lambda: admin.delete_topics(["kept", "gone-deletable", "dave-two", "made-two"])


if __name__ == "__main__":
    main(sys.argv[1])
