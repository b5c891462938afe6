"""The clients' work during the soak, in rounds."""

import contextlib
import random
import socket
from collections.abc import Callable
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer, ShareConsumer
from confluent_kafka.admin import AdminClient, NewTopic

from benchmarks.broker import ask_versions
from kafka_shim.testing import KafkaBroker
from kafka_shim.testing.names import ApiName
from kafka_shim.testing.transport import BrokerError

TOPICS = ("orders", "payments", "shared")
_QUIET: dict[str, Any] = {"log_level": 0, "socket.timeout.ms": 5000}
_FAULTS: tuple[ApiName, ...] = (
    "Fetch",
    "Produce",
    "Metadata",
    "OffsetCommit",
    "EndTxn",
    "JoinGroup",
    "ShareFetch",
)


class Work:
    """Methods for one round of each kind of work, which may raise exceptions of clients."""

    def __init__(self, broker: KafkaBroker, seed: int) -> None:
        self._broker = broker
        self._random = random.Random(seed)
        self._rounds = 0

    def kinds(self) -> dict[str, Callable[[], None]]:
        return {
            "groups": self.groups,
            "transactions": self.transactions,
            "shares": self.shares,
            "acls": self.acls,
            "reconnects": self.reconnects,
            "faults": self.faults,
            "topics": self.topics,
            "nodes": self.nodes,
        }

    def groups(self) -> None:
        """Let two members of a group, of either protocol, join, read, commit and leave."""
        name = f"readers-{self._random.randrange(6)}"
        protocol = "consumer" if int(name[-1]) % 2 else "classic"
        more = {"group.id": name, "group.protocol": protocol, "auto.offset.reset": "latest"}
        members = [Consumer(self._broker.config("alice", **_QUIET, **more)) for _ in range(2)]
        try:
            for member in members:
                member.subscribe(["orders", "payments"])
            for member in members:
                for message in member.consume(200, timeout=2):
                    if message.error() is None:
                        with contextlib.suppress(KafkaException):
                            member.commit(message=message, asynchronous=False)
                        break
        finally:
            for member in members:
                member.close()

    def transactions(self) -> None:
        """Let a producer begin five transactions, and commit or abort them."""
        name = f"tx-{self._random.randrange(4)}"
        config = self._broker.config("alice", **_QUIET, **{"transactional.id": name})
        producer = Producer(config | {"transaction.timeout.ms": 10_000})
        producer.init_transactions(10)
        for _ in range(5):
            producer.begin_transaction()
            for number in range(20):
                topic = TOPICS[number % 3]
                producer.produce(topic, b"x" * 500, str(number))
            if self._random.random() < 0.3:
                producer.abort_transaction(10)
            else:
                producer.commit_transaction(10)

    def shares(self) -> None:
        """Let a member of a share group read records and acknowledge them."""
        config = self._broker.config(**_QUIET, **{"group.id": f"sharers-{self._rounds % 2}"})
        self._rounds += 1
        member = ShareConsumer(config)
        try:
            member.subscribe(["shared"])
            for _ in range(3):
                member.poll(timeout=1)
        finally:
            member.close()

    def acls(self) -> None:
        """Add and remove ACLs of many principals, including alice's."""
        host = f"10.0.{self._random.randrange(256)}.{self._random.randrange(256)}"
        rule = {
            "resource_type": "topic",
            "resource_name": f"t{self._random.randrange(1000)}",
            "principal": f"User:u{self._random.randrange(1000)}",
            "operation": "read",
            "host": host,
        }
        self._broker.acls.add(rule)
        denial = {
            "resource_type": "topic",
            "resource_name": "payments",
            "principal": "User:alice",
            "operation": "read",
            "permission": "deny",
        }
        self._broker.acls.add(denial)
        self._broker.decisions(principal="alice", api="Fetch", allowed=False)
        self._broker.acls.remove(denial)
        self._broker.acls.remove(rule)

    def reconnects(self) -> None:
        """Connect clients that send one request, stop within a frame, or have a wrong password."""
        for address in self._broker.bootstrap_servers.split(","):
            host, _, port = address.partition(":")
            for kind in range(20):
                with socket.create_connection((host, int(port)), 5) as peer:
                    peer.settimeout(5)
                    if kind % 2:
                        ask_versions(peer)
                    peer.sendall((1000).to_bytes(4, "big") + bytes([0, kind % 90]))
        wrong = self._broker.config("alice", **_QUIET) | {"sasl.password": "wrong"}
        with contextlib.suppress(KafkaException):
            AdminClient(wrong).list_topics(timeout=1)

    def faults(self) -> None:
        """Inject errors, delays, truncated responses and disconnects into
        a few requests of an API.
        """
        api, faults = self._random.choice(_FAULTS), self._broker.faults
        match self._random.randrange(5):
            case 0:
                fault = faults.error("NOT_LEADER_OR_FOLLOWER", api=api, times=3)
            case 1:
                fault = faults.delay(300, api=api, times=3)
            case 2:
                fault = faults.disconnect("after", api=api, times=2)
            case 3:
                fault = faults.truncate(6, api=api, times=2)
            case _:
                fault = faults.throttle(100, api=api, times=3)
        with contextlib.suppress(BrokerError):
            fault.remove()

    def topics(self) -> None:
        """Create a topic, write to it, and delete it with its groups."""
        admin = AdminClient(self._broker.config(**_QUIET))
        name = f"passing-{self._random.randrange(10**6)}"
        admin.create_topics([NewTopic(name, 3, 1)])[name].result(10)
        try:
            producer = Producer(self._broker.config(**_QUIET) | {"enable.idempotence": True})
            for _ in range(50):
                producer.produce(name, b"y" * 1000)
            producer.flush(5)
            reader = Consumer(self._broker.config(**_QUIET, **{"group.id": name}))
            reader.subscribe([name])
            reader.poll(1)
            reader.close()
        finally:
            with contextlib.suppress(KafkaException):
                admin.delete_consumer_groups([name])[name].result(10)
            admin.delete_topics([name])[name].result(10)

    def nodes(self) -> None:
        """Stop and restart a broker; also restart one that was left stopped."""
        node_id = self._random.randrange(1, 4)
        self._broker.nodes.stop(node_id)
        for node in self._broker.nodes.list():
            if not node["is_alive"]:
                self._broker.nodes.start(node["node_id"])


ERRORS = (KafkaException, BrokerError, OSError)
"""Exceptions that clients may raise because of faults."""
