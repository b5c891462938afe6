"""The driver contract, version 1: one JSON object per line, in both directions.

The driver reads `{"id": 1, "command": "produce", "client": "c", ...}`. It answers in the order
of the commands, with one of

    {"id": 1, "ok": {...}}
    {"id": 1, "error": {"class": "...", "code": 29, "text": "..."}}
    {"id": 1, "unsupported": true}

`code` is Kafka's error code, or null if the error has none. `retriable`, `fatal` and
`abortable` are null or left out if the client does not set them. The commands are in
`commands.py`.
"""

from collections.abc import Mapping
from typing import Any

from kafka_shim.conformance.commands import COMMANDS
from kafka_shim.conformance.shapes import (
    SHARED,
    Command,
    Shape,
    object_with_underscored_fields_optional,
    shared_shape_reference,
)

VERSION = 1


CAPABILITIES: Mapping[str, str] = {
    "plain": "authenticates with PLAIN",
    "scram": "authenticates with SCRAM-SHA-256 and SCRAM-SHA-512",
    "oauthbearer": "authenticates with a token from the command",
    "delegation-tokens": "authenticates with a delegation token",
    "tls": "supports TLS and verifies the broker's certificate",
    "reauthentication": "authenticates again before its session ends (KIP-368)",
    "idempotence": "has idempotent producers",
    "transactions": "has transactions",
    "classic-groups": "has group members of the classic protocol",
    "consumer-groups": "has group members of the consumer protocol (KIP-848)",
    "static-members": "has static members (KIP-345)",
    "share-groups": "has members of share groups (KIP-932)",
    "authorized-operations": "returns authorized operations (KIP-430)",
    "prefixed-acls": "supports pattern types of ACLs (KIP-290)",
    "rebootstrap": "returns to its bootstrap servers (KIP-899, KIP-1102)",
}
"""Capabilities of a client, and their meaning; `hello` returns those that the client has."""

SETTINGS: Mapping[str, str] = {
    "request.timeout.ms": "timeout of one request",
    "default.api.timeout.ms": "timeout of a call of the client",
    "delivery.timeout.ms": "timeout for writing a record",
    "max.block.ms": "how long a producer waits for metadata, and for each step of a transaction",
    "metadata.max.age.ms": "time after which metadata is requested again",
    "auto.offset.reset": "earliest or latest",
    "enable.auto.commit": "true or false",
    "allow.auto.create.topics": "true or false",
    "enable.idempotence": "true or false; left out: the client's default",
    "acks": "0, 1 or all",
    "linger.ms": "how long a producer waits for more records before it sends a request",
    "compression.type": "none, gzip, snappy, lz4 or zstd",
    "max.request.size": "maximum bytes of a producer's request",
    "fetch.max.bytes": "maximum bytes of a Fetch request of a consumer",
    "max.partition.fetch.bytes": "maximum bytes that a consumer requests from one partition",
    "transactional.id": "transactional id of the producer",
    "transaction.timeout.ms": "transaction timeout of the producer",
    "check.crcs": "true or false: whether a consumer verifies the checksums of record batches",
    "isolation.level": "read_uncommitted or read_committed",
    "group.id": "group of the consumer",
    "group.instance.id": "instance id of a static member",
    "group.protocol": "classic or consumer",
    "session.timeout.ms": "session timeout of a classic member",
    "heartbeat.interval.ms": "heartbeat interval of a classic member",
    "client.id": "client id in requests",
    "metadata.recovery.strategy": "none or rebootstrap",
    "reconnect.backoff.ms": "the first pause before a new connection",
    "reconnect.backoff.max.ms": "the longest pause before a new connection",
    "retry.backoff.ms": "the pause before a retry",
}
"""Settings in `open`, with Kafka's names.

A driver ignores settings for which its client has no equivalent. It answers `unsupported` if
ignoring one changes the meaning: `transactional.id`, `group.instance.id`, `group.protocol`.
"""


def contract_json_schema() -> dict[str, Any]:
    """Return the contract as JSON schema: `$defs/request` is a line to the driver, `$defs/answer` a
    line from it.

    `commands` has the text of each command, and the schemas of its request and of its `ok`.
    """
    commands = {
        name: {
            "what": command.description,
            "request": _request_line_schema(name, command),
            "ok": command.ok_schema(),
        }
        for name, command in COMMANDS.items()
    }
    defs: dict[str, Any] = dict(SHARED)
    defs["request"] = {"anyOf": [each["request"] for each in commands.values()]}
    defs["response"] = {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "ok": {"type": "object"}}
        | {"error": shared_shape_reference("error"), "unsupported": {"const": True}},
        "oneOf": [{"required": ["id", field]} for field in ("ok", "error", "unsupported")],
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Driver contract of the conformance suite of kafka-shim",
        "contract": VERSION,
        "capabilities": dict(CAPABILITIES),
        "settings": dict(SETTINGS),
        "commands": commands,
        "$defs": defs,
        "anyOf": [shared_shape_reference("request"), shared_shape_reference("response")],
    }


def _request_line_schema(name: str, command: Command) -> Shape:
    client: dict[str, Shape] = {"client": {"type": "string"}} if command.has_client else {}
    shape = object_with_underscored_fields_optional(
        id={"type": "integer"}, command={"const": name}, **client, **command.fields
    )
    return {**shape, "additionalProperties": False}
