"""The driver contract as a page in Markdown, for people who write a driver."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from kafka_shim.conformance.commands import COMMANDS
from kafka_shim.conformance.contract import CAPABILITIES, SETTINGS
from kafka_shim.conformance.contract_words import EXAMPLES, SHARED_FIELDS, field_meaning
from kafka_shim.conformance.shapes import SHARED, Command, Shape

EACH = "each item"


def contract_page_lines() -> Iterator[str]:
    """Yield the page's lines: commands with examples, shared objects, capabilities, settings."""
    yield "## Commands"
    for name, command in COMMANDS.items():
        yield from ("", f"### `{name}`", "", command.description, "")
        yield from _field_rows(name, command)
        yield from ("", "```json", *example_exchange(name), "```")
    yield from ("", "## Objects in several commands")
    for name, shape in SHARED.items():
        yield from ("", f"### `{name}`", "", "| field | type | meaning |", "|---|---|---|")
        for field, each in shape["properties"].items():
            meaning = SHARED_FIELDS[f"{name}.{field}"]
            name_cell = _field_marked_if_optional(field, shape)
            yield f"| {name_cell} | {shape_in_words(each)} | {meaning} |"
    yield from ("", "## Capabilities", "", "| capability | the client |", "|---|---|")
    yield from (f"| `{name}` | {what} |" for name, what in CAPABILITIES.items())
    yield from ("", "## Settings", "", "| setting | meaning |", "|---|---|")
    yield from (f"| `{name}` | {what} |" for name, what in SETTINGS.items())


def example_exchange(name: str) -> list[str]:
    """Return an example of a command: the line to the driver, and its answer."""
    fields, ok = EXAMPLES[name]
    client = {"client": "c"} if COMMANDS[name].has_client else {}
    lines: tuple[Mapping[str, Any], ...] = (
        {"id": 1, "command": name, **client, **fields},
        {"id": 1, "ok": ok},
    )
    return [json.dumps(line) for line in lines]


def _field_rows(name: str, command: Command) -> Iterator[str]:
    shapes = {field.rstrip("_"): shape for field, shape in command.fields.items()}
    response = command.ok_schema()
    if not shapes and not response["properties"]:
        yield "The command has no other fields, and `ok` is empty."
        return
    yield "| | field | type | meaning |"
    yield "|---|---|---|---|"
    for field in command.fields:
        bare = field.rstrip("_")
        optional = "?" if field.endswith("_") else ""
        field_type, meaning = shape_in_words(shapes[bare]), field_meaning(name, bare)
        yield f"| in | `{bare}`{optional} | {field_type} | {meaning} |"
    for field, shape in response["properties"].items():
        meaning = field_meaning(name, field, is_response=True)
        name_cell = _field_marked_if_optional(field, response)
        yield f"| `ok` | {name_cell} | {_ok_field_type(shape)} | {meaning} |"
        if field == "items":
            yield from _item_field_rows(name, shape)


def _item_field_rows(name: str, shape: Shape) -> Iterator[str]:
    item = shape["additionalProperties"]["anyOf"][0]
    for field, each in item["properties"].items():
        meaning = field_meaning(name, field, is_response=True)
        name_cell = _field_marked_if_optional(field, item)
        yield f"| {EACH} | {name_cell} | {shape_in_words(each)} | {meaning} |"


def _field_marked_if_optional(field: str, shape: Shape) -> str:
    return f"`{field}`" if field in shape["required"] else f"`{field}`?"


def _ok_field_type(shape: Shape) -> str:
    """Return the type in words; the fields of items have their own rows."""
    each = shape.get("additionalProperties", {})
    if "anyOf" in each and each["anyOf"][-1].get("$ref", "").endswith("error"):
        return f"by name, {EACH} or an `error`"
    return shape_in_words(shape)


def shape_in_words(shape: Shape) -> str:
    """Return a shape in words, such as `list of string` or `integers by name`."""
    if "$ref" in shape:
        return f"`{str(shape['$ref']).rpartition('/')[2]}`"
    if "anyOf" in shape:
        return " or ".join(shape_in_words(each) for each in shape["anyOf"])
    if "enum" in shape:
        return " or ".join(f"`{each}`" for each in shape["enum"])
    if shape["type"] == "array":
        return f"list of {shape_in_words(shape['items'])}"
    if shape["type"] != "object":
        return str(shape["type"])
    names = shape.get("additionalProperties")
    return f"object of {'any value' if names is None else shape_in_words(names)} by name"
