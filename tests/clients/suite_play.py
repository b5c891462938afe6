"""A play for the clients of the conformance suite that the kit has no driver for.

Each command is one of the driver contract, for a client that was opened with a user or none.
"""

import json
import os
import subprocess
import sys
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from tests.clients.suite_drivers import COMMANDS

SUITE_CLIENTS = ("java-2.8", "kafka-go", "platformatic", "rust-rdkafka", "sarama")

ALICE = {"mechanism": "PLAIN", "user": "alice", "password": "alice-secret"}
STRANGER = ALICE | {"password": "not-her-secret"}
TIMES = {
    "request.timeout.ms": "5000",
    "default.api.timeout.ms": "8000",
    "delivery.timeout.ms": "8000",
    "max.block.ms": "8000",
}
MEMBER = {"group.id": "g", "auto.offset.reset": "earliest", "enable.auto.commit": "false"}
READ = {"name": "orders", "principal": "User:alice", "host": "*", "operation": "READ"}
ACL = READ | {"resource_type": "TOPIC", "pattern_type": "LITERAL", "permission": "ALLOW"}
ANY = {"name": None, "principal": None, "host": None, "operation": "ANY"}
FILTER = ANY | {"resource_type": "ANY", "pattern_type": "ANY", "permission": "ANY"}


class _Step(NamedTuple):
    """A command of a client. `records` has how many records of which clients it consumes."""

    client: str
    command: str
    fields: Mapping[str, Any] = MappingProxyType({})
    records: Mapping[str, int] = MappingProxyType({})

    def count(self, unopened: Collection[str]) -> int:
        """Return the number of records that exist if some clients could not be opened."""
        return sum(count for client, count in self.records.items() if client not in unopened)


def _open(
    client: str, settings: Mapping[str, str] | None = None, login: Mapping[str, str] | None = None
) -> _Step:
    listener = "PLAINTEXT" if login is None else "SASL_PLAINTEXT"
    fields = {"listener": listener, "login": login, "settings": TIMES | dict(settings or {})}
    return _Step(client, "open", fields)


STEPS = (
    _open("admin"),
    _Step("admin", "create_topics", {"topics": {"orders": 1, "copies": 1}}),
    _Step("admin", "create_acls", {"acls": [ACL, ACL | {"pattern_type": "PREFIXED"}]}),
    _Step("admin", "describe_acls", {"filter": FILTER}),
    _Step("admin", "list_topics"),
    _Step("admin", "describe_topics", {"names": ["orders"], "operations": False}),
    _Step("admin", "describe_cluster", {"operations": False}),
    _open("producer", {"enable.idempotence": "false", "acks": "all"}),
    _Step("producer", "produce", {"topic": "orders", "values": ["a", "b"]}),
    _Step("producer", "close"),
    _open("idempotent", {"enable.idempotence": "true", "acks": "all"}),
    _Step("idempotent", "produce", {"topic": "orders", "values": ["c"]}),
    _Step("idempotent", "close"),
    _open("member", MEMBER),
    _Step(
        "member", "consume", {"topics": ["orders"], "seconds": 20}, {"producer": 2, "idempotent": 1}
    ),
    _Step("member", "commit_offsets"),
    _Step("member", "close"),
    _Step("admin", "group_offsets", {"group": "g", "partitions": ["orders-0"]}),
    _Step("admin", "list_groups"),
    _open("transaction", {"transactional.id": "tx"}),
    _Step("transaction", "begin"),
    _Step("transaction", "produce", {"topic": "copies", "values": ["x"]}),
    _Step(
        "transaction",
        "send_offsets",
        {"group": "t", "topic": "orders", "partition": 0, "offset": 2},
    ),
    _Step("transaction", "commit"),
    _Step("transaction", "begin"),
    _Step("transaction", "produce", {"topic": "copies", "values": ["y"]}),
    _Step("transaction", "abort"),
    _Step("transaction", "close"),
    _open("reader", {"isolation.level": "read_committed", "auto.offset.reset": "earliest"}),
    _Step(
        "reader",
        "consume_assigned",
        {"partitions": ["copies-0"], "seconds": 10},
        {"transaction": 1},
    ),
    _Step("reader", "close"),
    _open("alice", MEMBER, ALICE),
    _Step("alice", "list_topics"),
    _Step("alice", "create_topics", {"topics": {"denied": 1}}),
    _Step("alice", "create_acls", {"acls": [ACL]}),
    _Step("alice", "produce", {"topic": "orders", "values": ["a"]}),
    _Step("alice", "consume", {"topics": ["orders"], "seconds": 5}, {"producer": 1}),
    _Step("alice", "close"),
    _open("stranger", login=STRANGER),
    _Step("stranger", "list_topics"),
    _Step("stranger", "close"),
    _Step("admin", "delete_acls", {"filters": [FILTER]}),
    _Step("admin", "close"),
)
"""Topics, records, a group, transactions, ACLs, denials and a rejected log-in."""


def play(client: str) -> None:
    """Print the answers of the client's driver to all commands that it can do.

    A client that cannot be opened, for lack of transactions, leaves no records to consume.
    """
    command = COMMANDS[client]()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as driver:
        unopened: set[str] = set()
        for number, step in enumerate(STEPS):
            count = step.count(unopened)
            if step.client in unopened or (step.records and not count):
                continue
            answer = _answer(driver, number, step, count)
            if step.command == "open" and "ok" not in json.loads(answer):
                unopened.add(step.client)
            sys.stdout.write(answer)
            sys.stdout.flush()


def _answer(driver: subprocess.Popen[str], number: int, step: _Step, count: int) -> str:
    """Return the driver's answer to a command, one line."""
    assert driver.stdin is not None
    assert driver.stdout is not None
    fields = {**step.fields} | ({"count": count} if step.records else {})
    if "listener" in fields:
        fields["servers"] = os.environ[f"KAFKA_BOOTSTRAP_SERVERS_{fields.pop('listener')}"]
    line = {"id": number, "command": step.command, "client": step.client, **fields}
    driver.stdin.write(f"{json.dumps(line)}\n")
    driver.stdin.flush()
    return driver.stdout.readline()


if __name__ == "__main__":
    play(sys.argv[1])
