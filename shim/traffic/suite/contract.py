"""What a driver is asked, and what it answers: one JSON object a line, version 1 of the contract.

The driver reads `{"id": 1, "command": "produce", "client": "c", ...}` and writes, in the same
order, one of

    {"id": 1, "ok": {...}}
    {"id": 1, "error": {"class": "...", "code": 29, "text": "..."}}
    {"id": 1, "unsupported": true}

`code` is Kafka's number, null for an error of the client's own. `retriable`, `fatal`, `abortable`
may be added where the client tells. `unsupported` is for what the client cannot do at all.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

VERSION = 1


class Command(msgspec.Struct, frozen=True):
    """A command: its fields with their JSON types, and what `ok` has. `?` marks what may lack."""

    what: str
    fields: Mapping[str, str] = {}
    ok: Mapping[str, str] = {}
    has_client: bool = True


_ITEMS = {"items": "object: by name, each {} or an error"}
_ACL = "object with resource_type, name, pattern_type, principal, host, operation, permission"
_PLACE = {"topic": "string", "partition": "integer"}

COMMANDS: Mapping[str, Command] = {
    "hello": Command(
        "Say what is driven.",
        ok={"name": "string", "version": "string", "commands": "array of string"},
        has_client=False,
    ),
    "open": Command(
        "Make a client by that name; `settings` have Kafka's names, as the Java client has them.",
        {
            "servers": "string",
            "login": "null, or object with mechanism, user, password",
            "settings": "object of string",
        },
    ),
    "close": Command("End the client, within a second or two."),
    "create_topics": Command("Create topics.", {"topics": "object: partitions by name"}, _ITEMS),
    "delete_topics": Command("Delete topics.", {"names": "array of string"}, _ITEMS),
    "create_partitions": Command(
        "Have topics grow.", {"topics": "object: how many in all, by name"}, _ITEMS
    ),
    "describe_topics": Command(
        "Describe topics; `operations` are the authorized ones, null if they were not asked for.",
        {"names": "array of string", "operations": "boolean"},
        {"items": "object: by name, each {operations: array of string or null} or an error"},
    ),
    "describe_cluster": Command(
        "Describe the cluster.", {"operations": "boolean"}, {"operations": "array or null"}
    ),
    "describe_configs": Command(
        "Tell the settings of a `topic` or `broker`.",
        {"type": "string", "names": "array of string"},
        {"items": "object: by name, each {settings: object of string} or an error"},
    ),
    "alter_configs": Command(
        "Set one setting of topics or brokers, and leave the others.",
        {"type": "string", "names": "array of string", "setting": "string", "value": "string"},
        _ITEMS,
    ),
    "create_acls": Command(
        "Create ACLs; the items are named 0, 1 and so on.", {"acls": f"array of {_ACL}"}, _ITEMS
    ),
    "describe_acls": Command(
        "List ACLs; `filter` is an ACL with null and ANY.", {"filter": _ACL}, {"acls": "array"}
    ),
    "delete_acls": Command("Delete ACLs by a filter.", {"filter": _ACL}, {"acls": "array"}),
    "list_groups": Command("List consumer groups.", ok={"groups": "array of string"}),
    "describe_groups": Command(
        "Describe consumer groups, as topics are described.",
        {"names": "array of string", "operations": "boolean"},
        {"items": "object: by name, each {operations: array of string or null} or an error"},
    ),
    "delete_groups": Command("Delete consumer groups.", {"names": "array of string"}, _ITEMS),
    "group_offsets": Command(
        "Tell what a group committed for partitions, `topic-partition` each; null if nothing.",
        {"group": "string", "partitions": "array of string"},
        {"items": "object: by partition, each {offset: integer or null} or an error"},
    ),
    "alter_group_offsets": Command(
        "Commit an offset for a group that has no members.",
        {"group": "string", **_PLACE, "offset": "integer"},
    ),
    "list_offsets": Command(
        "Tell the latest offsets.",
        {"partitions": "array of string"},
        {"items": "object: by partition, each {offset: integer} or an error"},
    ),
    "delete_records": Command(
        "Delete the records before an offset.", {**_PLACE, "before": "integer"}
    ),
    "produce": Command(
        "Write values, and wait until they are acknowledged.",
        {"topic": "string", "values": "array of string"},
        {"offsets": "array of integer"},
    ),
    "begin": Command("Begin a transaction; the first one initialises the producer."),
    "commit": Command("Commit the transaction."),
    "abort": Command("Abort the transaction."),
    "consume": Command(
        "Subscribe to topics if that is not done, and poll until `count` values or `seconds`.",
        {"topics": "array of string", "count": "integer", "seconds": "number"},
        {"values": "array of string"},
    ),
    "commit_offsets": Command("Commit what was consumed, and wait for the answer."),
}
"""By name."""


def schema() -> dict[str, Any]:
    """The contract as JSON, for authors of drivers in any language."""
    return {
        "contract": VERSION,
        "commands": {name: msgspec.to_builtins(command) for name, command in COMMANDS.items()},
        "error": {
            "class": "string: the client's own name of the error",
            "code": "integer or null: Kafka's code",
            "text": "string",
            "retriable?": "boolean",
            "fatal?": "boolean",
            "abortable?": "boolean",
        },
    }
