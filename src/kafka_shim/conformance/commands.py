"""The commands of the driver contract, the objects in them, and the check of an answer."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

Shape = Mapping[str, Any]
"""A JSON schema."""

RESULTS = "results by name"
_PRIMITIVES = ("string", "integer", "number", "boolean")


class Field(msgspec.Struct, frozen=True):
    """A field of a command, of an answer, or of an object in several commands."""

    name: str
    type: str
    meaning: str
    is_optional: bool


class Command(msgspec.Struct):
    """A command, its fields, those of `ok`, those of each result in `ok`, and an example."""

    description: str = ""
    fields: list[Field] = []
    ok: list[Field] = []
    result: list[Field] = []
    example: Mapping[str, Any] = {}
    example_ok: Mapping[str, Any] = {}
    has_client: bool = True

    def ok_schema(self) -> Shape:
        """Return the schema of `ok`."""
        if any(field.type == RESULTS for field in self.ok):
            each = {"anyOf": [object_schema(self.result), _type_schema("error")]}
            items = {"type": "object", "additionalProperties": each}
            return {"type": "object", "properties": {"items": items}, "required": ["items"]}
        return object_schema(self.ok)


class Contract(msgspec.Struct):
    """The parts of `contract.txt`, by name."""

    commands: dict[str, Command] = {}
    objects: dict[str, list[Field]] = {}
    capabilities: dict[str, str] = {}
    settings: dict[str, str] = {}


def object_schema(fields: list[Field]) -> Shape:
    """Return the schema of an object with these fields."""
    return {
        "type": "object",
        "properties": {field.name: _type_schema(field.type) for field in fields},
        "required": [field.name for field in fields if not field.is_optional],
    }


def _type_schema(words: str) -> Shape:
    if words.endswith(" or null"):
        return {"anyOf": [_type_schema(words.removesuffix(" or null")), {"type": "null"}]}
    if words.startswith("list of "):
        return {"type": "array", "items": _type_schema(words.removeprefix("list of "))}
    if words == "object of any value by name":
        return {"type": "object"}
    if words.startswith("object of "):
        value = words.removeprefix("object of ").removesuffix(" by name")
        return {"type": "object", "additionalProperties": _type_schema(value)}
    if "|" in words:
        return {"type": "string", "enum": words.split("|")}
    return {"type": words} if words in _PRIMITIVES else {"$ref": f"#/$defs/{words}"}


@cache
def read_contract() -> Contract:
    """Return the contract. Raise ValueError if a line of the file cannot be read."""
    sections = list(_iter_sections((files(__package__) / "contract.txt").read_text("utf-8")))
    meanings = dict(
        _parse_meanings(next(lines for title, lines in sections if title == ["meanings"]))
    )
    contract = Contract()
    for title, lines in sections:
        match title:
            case ["command", name, *rest]:
                contract.commands[name] = _parse_command(lines, meanings)
                contract.commands[name].has_client = rest != ["without", "client"]
            case ["object", name]:
                contract.objects[name] = [_parse_field(line[4:], meanings) for line in lines]
            case ["capabilities"]:
                contract.capabilities.update(_parse_meanings(lines))
            case ["settings"]:
                contract.settings.update(_parse_meanings(lines))
    return contract


def _iter_sections(text: str) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the words of each heading, with the lines below it."""
    for paragraph in text.split("\n\n"):
        heading, *lines = paragraph.strip().split("\n")
        if not heading.startswith("#"):
            yield heading.split(), [line.strip() for line in lines]


def _parse_meanings(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        name, _, meaning = line.partition(" = ")
        yield name, meaning


def _parse_command(lines: list[str], meanings: Mapping[str, str]) -> Command:
    command = Command(description=lines[0])
    for line in lines[1:]:
        kind, _, rest = line.partition(" ")
        match kind:
            case "in":
                command.fields.append(_parse_field(rest, meanings))
            case "ok":
                command.ok.append(_parse_field(rest, meanings))
            case "each":
                command.result.append(_parse_field(rest, meanings))
            case ">":
                command.example = json.loads(rest)
            case "<":
                command.example_ok = json.loads(rest)
            case _:
                raise ValueError(f"unknown line of the contract: {line}")
    return command


def _parse_field(text: str, meanings: Mapping[str, str]) -> Field:
    declaration, _, meaning = text.partition(" = ")
    name, _, words = declaration.partition(": ")
    bare = name.removesuffix("?")
    return Field(bare, words, meaning or meanings[bare], is_optional=bare != name)


COMMANDS: Mapping[str, Command] = read_contract().commands
OBJECT_SCHEMAS: Mapping[str, Shape] = {
    name: object_schema(fields) for name, fields in read_contract().objects.items()
}
"""Schemas of the objects in several commands; the contract has them as `$defs`."""


_PYTHON_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def answer_violation(command: str, ok: Any) -> str | None:
    """Return what is wrong with the `ok` of a command; None if it is valid."""
    return next(_violations(ok, COMMANDS[command].ok_schema(), "ok"), None)


def _violations(value: Any, shape: Shape, path: str) -> Iterator[str]:
    """Yield each violation of a shape, with its place; knows only the JSON schema used here."""
    if "$ref" in shape:
        yield from _violations(value, OBJECT_SCHEMAS[shape["$ref"].rpartition("/")[2]], path)
    elif "anyOf" in shape:
        violations = [list(_violations(value, option, path)) for option in shape["anyOf"]]
        if all(violations):
            yield from min(violations, key=len)
    elif not _has_json_type(value, shape["type"]):
        yield f"{path} is not of type {shape['type']}"
    elif shape["type"] == "array":
        for at, each in enumerate(value):
            yield from _violations(each, shape["items"], f"{path}[{at}]")
    elif shape["type"] == "object":
        yield from _object_violations(value, shape, path)


def _has_json_type(value: Any, json_type: str) -> bool:
    if isinstance(value, bool):
        return json_type == "boolean"
    return isinstance(value, _PYTHON_TYPES[json_type])


def _object_violations(value: Mapping[str, Any], shape: Shape, path: str) -> Iterator[str]:
    fields = shape.get("properties", {})
    for name in shape.get("required", ()):
        if name not in value:
            yield f"{path}.{name} is missing"
    for name, each in value.items():
        known = fields.get(name, shape.get("additionalProperties"))
        if known is not None:
            yield from _violations(each, known, f"{path}.{name}")
