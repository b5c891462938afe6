"""The conformance kit: plays, which are lists of calls that every client makes by its driver.

    python -m tests.clients.kit PLAY CLIENT

Brokers are read from KAFKA_BOOTSTRAP_SERVERS_<LISTENER>, which `kafka-shim conformance run` sets.
If a driver lacks a call, or its client fails, the play continues with the next call, since only the
frames on the wire are judged. The answers are printed.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.clients.drivers.json_lines import Login
from tests.clients.toolchains import DRIVERS, go_driver, java_driver, node_driver

PLAY_SECONDS = 240

Call = tuple[str, Login | None, dict[str, Any]]


def _python(name: str) -> Callable[[Path], list[str]]:
    return lambda _: [sys.executable, str(DRIVERS / f"{name}_driver.py")]


CLIENTS: dict[str, Callable[[Path], list[str]]] = {
    "librdkafka": _python("confluent_kafka"),
    "kafka-python": _python("kafka_python"),
    "aiokafka": _python("aiokafka"),
    "java": java_driver,
    "franz-go": go_driver,
    "kafkajs": node_driver,
}

ALICE = Login("SASL_PLAINTEXT", "PLAIN", "alice", "alice-secret")
STRANGER = Login("SASL_PLAINTEXT", "PLAIN", "alice", "not-her-secret")
READ = {"name": "orders", "principal": "User:alice", "host": "*", "operation": "READ"}
LITERAL = READ | {"resource_type": "TOPIC", "pattern_type": "LITERAL", "permission": "ALLOW"}
PREFIXED = LITERAL | {"name": "eu-", "pattern_type": "PREFIXED"}
ANY = {"name": None, "principal": None, "host": None, "operation": "ANY"}
FILTER = ANY | {"resource_type": "ANY", "pattern_type": "ANY", "permission": "ANY"}
LISTED = ("list_acls", None, {"filter": FILTER})
VALUES = {"topic": "orders", "values": ["a", "b"]}
RECORDS = VALUES | {"idempotent": None}
TRANSACTION = {"transactional_id": "tx"}

PERMISSIONS: tuple[Call, ...] = (
    ("create_topic", None, {"topic": "orders"}),
    ("create_topic", None, {"topic": "copies"}),
    ("create_acls", None, {"acls": [LITERAL, PREFIXED]}),
    LISTED,
    ("list_acls", None, {"filter": FILTER | {"pattern_type": "MATCH", "name": "eu-west"}}),
    ("list_topics", None, {}),
    ("cluster_operations", None, {}),
    ("topic_operations", None, {"topic": "orders"}),
    ("produce", None, RECORDS),
    ("produce", None, RECORDS | {"idempotent": True}),
    ("consume", None, {"topic": "orders", "group": "g", "count": 2, "seconds": 15}),
    ("group_operations", None, {"group": "g"}),
    ("offset_fetch", None, {"group": "g", "topic": None}),
    (
        "transact",
        None,
        {"topic": "orders", "output": "copies", "group": "t", "count": 2} | TRANSACTION,
    ),
    ("produce_transaction", None, VALUES | TRANSACTION),
    ("create_topic", ALICE, {"topic": "denied"}),
    ("list_topics", ALICE, {}),
    ("create_acls", ALICE, {"acls": [LITERAL]}),
    ("produce", ALICE, RECORDS),
    ("offset_fetch", ALICE, {"group": "g", "topic": None}),
    ("produce_transaction", ALICE, VALUES | TRANSACTION),
    ("consume", ALICE, {"topic": "orders", "group": "g", "count": 1, "seconds": 5}),
    ("delete_acls", None, {"filters": [FILTER]}),
)
"""All calls about topics, groups and the cluster, allowed and denied."""

FULL = (*PERMISSIONS, ("produce", STRANGER, RECORDS))
"""The same and a refused log-in, which clients retry for long."""

OLD: tuple[Call, ...] = (
    ("create_topic", None, {"topic": "orders"}),
    ("create_acls", None, {"acls": [LITERAL]}),
    LISTED,
    ("produce", None, RECORDS),
    ("consume", None, {"topic": "orders", "group": "g", "count": 2, "seconds": 15}),
)
"""Calls to a broker without pattern types, or without an authorizer."""

NOT_READY: tuple[Call, ...] = (
    ("create_topic", None, {"topic": "orders"}),
    ("produce", None, RECORDS | {"idempotent": True}),
    ("consume", None, {"topic": "orders", "group": "g", "count": 2, "seconds": 15}),
    ("produce_transaction", None, VALUES | TRANSACTION),
)
"""Calls that need coordinators, for a broker whose coordinators are not ready at first."""

MEMBER: Call = ("consume", None, {"topic": "crowded", "group": "crowd", "count": 99, "seconds": 8})
"""A member of a large group: it waits for more records than exist, then leaves."""

SHARES: tuple[Call, ...] = (
    ("create_topic", None, {"topic": "shared"}),
    ("produce", None, {"topic": "shared", "values": ["a", "b", "c"], "idempotent": None}),
    ("share_from_the_start", None, {"group": "sharing"}),
    (
        "share_consume",
        None,
        {"topic": "shared", "group": "sharing", "count": 3, "types": {}, "seconds": 20},
    ),
    ("share_offsets", None, {"group": "sharing"}),
)
"""A share group (KIP-932), of clients that have them."""

PLAYS = {
    "shares": SHARES,
    "permissions": PERMISSIONS,
    "full": FULL,
    "old": OLD,
    "not-ready": NOT_READY,
    "member": (MEMBER,),
}


def main() -> int:
    play, client = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        command = CLIENTS[client](Path(folder))
        lines = "".join(f"{json.dumps(_line(*call))}\n" for call in PLAYS[play])
        done = subprocess.run(command, input=lines, text=True, check=False, timeout=PLAY_SECONDS)
    return done.returncode


def _line(call: str, login: Login | None, arguments: dict[str, Any]) -> dict[str, Any]:
    listener = "PLAINTEXT" if login is None else login.protocol
    return {
        "call": call,
        "servers": os.environ[f"KAFKA_BOOTSTRAP_SERVERS_{listener}"],
        "login": None if login is None else login._asdict(),
        "arguments": arguments,
    }


if __name__ == "__main__":
    sys.exit(main())
