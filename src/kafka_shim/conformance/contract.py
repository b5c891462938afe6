"""The driver contract, version 1: one JSON object per line, in both directions.

The driver reads `{"id": 1, "command": "produce", "client": "c", ...}`. It answers in the order
of the commands, with one of

    {"id": 1, "ok": {...}}
    {"id": 1, "error": {"class": "...", "code": 29, "text": "..."}}
    {"id": 1, "unsupported": true}

`code` is Kafka's error code, or null if the error has none. `retriable`, `fatal` and
`abortable` are null or left out if the client does not set them. The commands are in
`contract.txt`.

A driver ignores settings for which its client has no equivalent. It answers `unsupported` if
ignoring one changes the meaning: `transactional.id`, `group.instance.id`, `group.protocol`.
"""

from typing import Any

from kafka_shim.conformance.commands import (
    COMMANDS,
    OBJECT_SCHEMAS,
    Command,
    Shape,
    object_schema,
    read_contract,
)

VERSION = 1


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
    defs: dict[str, Any] = dict(OBJECT_SCHEMAS)
    defs["request"] = {"anyOf": [each["request"] for each in commands.values()]}
    defs["response"] = {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "ok": {"type": "object"}}
        | {"error": {"$ref": "#/$defs/error"}, "unsupported": {"const": True}},
        "oneOf": [{"required": ["id", field]} for field in ("ok", "error", "unsupported")],
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Driver contract of the conformance suite of kafka-shim",
        "contract": VERSION,
        "capabilities": read_contract().capabilities,
        "settings": read_contract().settings,
        "commands": commands,
        "$defs": defs,
        "anyOf": [{"$ref": "#/$defs/request"}, {"$ref": "#/$defs/response"}],
    }


def _request_line_schema(name: str, command: Command) -> Shape:
    shape = object_schema(command.fields)
    envelope: dict[str, Shape] = {"id": {"type": "integer"}, "command": {"const": name}}
    if command.has_client:
        envelope["client"] = {"type": "string"}
    return {
        "type": "object",
        "properties": envelope | shape["properties"],
        "required": [*envelope, *shape["required"]],
        "additionalProperties": False,
    }
