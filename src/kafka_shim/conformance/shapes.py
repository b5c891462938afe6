"""The check of an answer against the shape (JSON schema) that the contract gives it."""

from collections.abc import Iterator, Mapping
from typing import Any

from kafka_shim.conformance.commands import COMMANDS, OBJECT_SCHEMAS, Shape

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
