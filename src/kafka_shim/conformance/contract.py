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

import json
from collections.abc import Iterator
from typing import Any

from kafka_shim.conformance.commands import (
    COMMANDS,
    OBJECT_SCHEMAS,
    RESULTS,
    Command,
    Field,
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


EACH = "each item"


def contract_page_lines() -> Iterator[str]:
    """Yield the page's lines: commands with examples, shared objects, capabilities, settings."""
    contract = read_contract()
    yield "## Commands"
    for name, command in COMMANDS.items():
        yield from ("", f"### `{name}`", "", command.description, "")
        yield from _field_rows(command)
        yield from ("", "```json", *_example_exchange(name, command), "```")
    yield from ("", "## Objects in several commands")
    for name, fields in contract.objects.items():
        yield from ("", f"### `{name}`", "", "| field | type | meaning |", "|---|---|---|")
        yield from (f"| {_field_cells(field)} |" for field in fields)
    yield from ("", "## Capabilities", "", "| capability | the client |", "|---|---|")
    yield from (f"| `{name}` | {what} |" for name, what in contract.capabilities.items())
    yield from ("", "## Settings", "", "| setting | meaning |", "|---|---|")
    yield from (f"| `{name}` | {what} |" for name, what in contract.settings.items())


def _example_exchange(name: str, command: Command) -> list[str]:
    client = {"client": "c"} if command.has_client else {}
    request = {"id": 1, "command": name, **client, **command.example}
    return [json.dumps(request), json.dumps({"id": 1, "ok": command.example_ok})]


def _field_rows(command: Command) -> Iterator[str]:
    if not command.fields and not command.ok:
        yield "The command has no other fields, and `ok` is empty."
        return
    yield "| | field | type | meaning |"
    yield "|---|---|---|---|"
    yield from (f"| in | {_field_cells(field)} |" for field in command.fields)
    yield from (f"| `ok` | {_field_cells(field)} |" for field in command.ok)
    yield from (f"| {EACH} | {_field_cells(field)} |" for field in command.result)


def _field_cells(field: Field) -> str:
    mark = "?" if field.is_optional else ""
    return f"`{field.name}`{mark} | {_type_in_markdown(field.type)} | {field.meaning}"


def _type_in_markdown(words: str) -> str:
    """Return a type with the names of objects, and the values of a choice, as code."""
    if words == RESULTS:
        return f"by name, {EACH} or an `error`"
    names = read_contract().objects
    return " ".join(
        " or ".join(f"`{each}`" for each in word.split("|"))
        if "|" in word or word in names
        else word
        for word in words.split(" ")
    )
