"""Clients whose traffic is recorded and replayed: producers, groups, transactions and denials."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)

from kafka_shim.shim.config import Config, parse_address
from kafka_shim.traces.replay.events import Event, Recording, TraceEvents
from kafka_shim.traces.replay.replayer import Replayer
from kafka_shim.traces.replay.report import ReplayReport
from kafka_shim.traces.replay.target import OnUnreplayableRequest, Target
from tests.cli.conftest import PLAINTEXT, SASL, USERS, Running

PARTITIONS = 6
RECORDS = 40
SUPER_USERS = ("User:ANONYMOUS", "User:admin")


@contextlib.contextmanager
def shims(count: int, seed: int, **settings: Any) -> Iterator[Running]:
    """Run a cluster of shims, whose leaders depend on the seed."""
    running = Running(
        Config(
            listeners=(PLAINTEXT, SASL),
            users=USERS,
            super_users=SUPER_USERS,
            brokers=count,
            seed=seed,
            properties={"group.initial.rebalance.delay.ms": "0"},
            **settings,
        )
    )
    try:
        yield running
    finally:
        running.stop()


def run_clients(plaintext: str, sasl: str) -> None:
    """Create topics, write and read records, commit offsets, and be denied."""
    servers: dict[str, Any] = {"bootstrap.servers": plaintext}
    admin = AdminClient(servers)
    topics = [NewTopic(name, PARTITIONS, 1) for name in ("orders", "copies")]
    for created in admin.create_topics(topics).values():
        created.result(10)
    producer = Producer(servers | {"linger.ms": 0, "enable.idempotence": True})
    for number in range(RECORDS):
        producer.produce("orders", f"value {number}", f"key {number}", number % PARTITIONS)
        producer.flush(10)
    for group in ("readers", "auditors"):
        read_all(servers, group)
    run_transactions(servers)
    deny_alice(admin, sasl)


def read_all(servers: dict[str, Any], group: str) -> None:
    settings: dict[str, Any] = {
        "group.id": group,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
    }
    settings["fetch.wait.max.ms"] = 50
    consumer = Consumer(servers | settings)
    consumer.subscribe(["orders"])
    for _ in range(RECORDS):
        message = next(m for m in iter(lambda: consumer.poll(1), 0) if m is not None)
        assert message.error() is None
    consumer.commit(asynchronous=False)
    consumer.committed([TopicPartition("orders", number) for number in range(PARTITIONS)], 10)
    for number in range(PARTITIONS):
        consumer.get_watermark_offsets(TopicPartition("orders", number), 10)
    consumer.close()


def run_new_groups(servers: dict[str, Any]) -> None:
    """Read as members of groups of the new protocol (KIP-848), one of them static."""
    read_all(servers | {"group.protocol": "consumer"}, "new-readers")
    read_all(servers | {"group.protocol": "consumer", "group.instance.id": "one"}, "new-static")


def run_transactions(servers: dict[str, Any]) -> None:
    producer = Producer(servers | {"transactional.id": "tx"})
    producer.init_transactions(10)
    for number in range(3):
        producer.begin_transaction()
        for partition in range(PARTITIONS):
            producer.produce("copies", f"copy {number}", partition=partition)
        if number == 1:
            producer.abort_transaction(10)
        else:
            producer.commit_transaction(10)


def deny_alice(admin: AdminClient, sasl: str) -> None:
    """Produce as alice before, while, and after she is allowed to."""
    acl = (ResourceType.TOPIC, "orders", ResourcePatternType.LITERAL, "User:alice", "*")
    may_write = (AclOperation.WRITE, AclPermissionType.ALLOW)
    for change in (None, "create", "delete"):
        if change == "create":
            for done in admin.create_acls([AclBinding(*acl, *may_write)]).values():
                done.result(10)
        elif change == "delete":
            for done in admin.delete_acls([AclBindingFilter(*acl, *may_write)]).values():
                done.result(10)
        produce_as_alice(sasl)


def produce_as_alice(sasl: str) -> None:
    alice = Producer(
        {
            "bootstrap.servers": sasl,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": "alice",
            "sasl.password": "alice-secret",
            "message.timeout.ms": 2000,
        }
    )
    with contextlib.suppress(KafkaException):
        alice.produce("orders", "of alice", partition=0)
        alice.flush(10)


class OperatedEvents:
    """The events of a trace; a replay calls `operate` in the middle of them."""

    def __init__(self, trace: Path, operate: Callable[[], None]) -> None:
        self._events = [*TraceEvents(trace)]
        self._operate = operate
        self._passes = 0

    def __iter__(self) -> Iterator[Event]:
        self._passes += 1  # the first one is for facts about the recording
        for number, event in enumerate(self._events):
            if self._passes == 2 and number == len(self._events) * 2 // 5:
                self._operate()
            yield event


def replay(
    trace: Path,
    plaintext: str,
    sasl: str,
    *,
    operate: Callable[[], None] = lambda: None,
    **options: Any,
) -> ReplayReport:
    """Replay a trace to a cluster with these bootstrap servers, which is operated meanwhile."""
    addresses = [parse_address(text.partition(",")[0], "") for text in (plaintext, sasl)]
    defaults: dict[str, Any] = {
        "routes": {"SASL_PLAINTEXT": addresses[1]},
        "users": {name: f"{name}-secret" for name in ("alice", "bob", "carol", "admin")},
        "on_miss": OnUnreplayableRequest.SKIP,
    }
    target = Target(addresses[0], **(defaults | options))
    return Replayer(Recording(OperatedEvents(trace, operate), []), target).replay()
