"""Shapes (JSON schemas) of the contract's fields, and the check of an answer against them."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

Shape = Mapping[str, Any]

STRING: Shape = {"type": "string"}
INTEGER: Shape = {"type": "integer"}
NUMBER: Shape = {"type": "number"}
BOOLEAN: Shape = {"type": "boolean"}
STRINGS: Shape = {"type": "array", "items": STRING}
INTEGERS: Shape = {"type": "array", "items": INTEGER}
STRING_BY_NAME: Shape = {"type": "object", "additionalProperties": STRING}
INTEGER_BY_NAME: Shape = {"type": "object", "additionalProperties": INTEGER}


def nullable(shape: Shape) -> Shape:
    return {"anyOf": [shape, {"type": "null"}]}


def shared_shape_reference(name: str) -> Shape:
    """Return a reference to a shared shape."""
    return {"$ref": f"#/$defs/{name}"}


def array_of(shape: Shape) -> Shape:
    return {"type": "array", "items": shape}


def one_of_strings(*texts: str) -> Shape:
    return {"type": "string", "enum": list(texts)}


def object_with_underscored_fields_optional(**fields: Shape) -> Shape:
    """Return the shape of an object; a field whose name ends with `_` is optional."""
    return {
        "type": "object",
        "properties": {name.rstrip("_"): shape for name, shape in fields.items()},
        "required": [name for name in fields if not name.endswith("_")],
    }


def items_field_of_results_by_name(**fields: Shape) -> Mapping[str, Shape]:
    """Return the shape of results by name: each is an object with these fields, or an error."""
    each = {
        "anyOf": [
            object_with_underscored_fields_optional(**fields),
            shared_shape_reference("error"),
        ]
    }
    return {"items": {"type": "object", "additionalProperties": each}}


MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
_ACL = {"operation": STRING, "permission": STRING}
SHARED: Mapping[str, Shape] = {
    "error": object_with_underscored_fields_optional(
        **{"class": STRING, "code": nullable(INTEGER), "text": STRING},
        retriable_=nullable(BOOLEAN),
        fatal_=nullable(BOOLEAN),
        abortable_=nullable(BOOLEAN),
    ),
    "login": object_with_underscored_fields_optional(
        mechanism=STRING,
        user_=nullable(STRING),
        password_=nullable(STRING),
        token_=nullable(STRING),
        is_delegation_token_=BOOLEAN,
    ),
    "tls": object_with_underscored_fields_optional(
        ca=nullable(STRING), certificate_=nullable(STRING), key_=nullable(STRING)
    ),
    "acl": object_with_underscored_fields_optional(
        resource_type=STRING,
        name=STRING,
        pattern_type=STRING,
        principal=STRING,
        host=STRING,
        **_ACL,
    ),
    "acl_filter": object_with_underscored_fields_optional(
        resource_type=STRING,
        name=nullable(STRING),
        pattern_type=STRING,
        principal=nullable(STRING),
        host=nullable(STRING),
        **_ACL,
    ),
    "token": object_with_underscored_fields_optional(token_id=STRING, hmac_=STRING, owner_=STRING),
}
"""Shapes that several commands use; the contract has them as `$defs`."""

_PYTHON_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def schema_violations(value: Any, shape: Shape, path: str) -> Iterator[str]:
    """Yield each violation of a shape, with its place; knows only the JSON schema used here."""
    if "$ref" in shape:
        yield from schema_violations(value, SHARED[shape["$ref"].rpartition("/")[2]], path)
    elif "anyOf" in shape:
        violations = [list(schema_violations(value, option, path)) for option in shape["anyOf"]]
        if all(violations):
            yield from min(violations, key=len)
    elif not _has_json_type(value, shape["type"]):
        yield f"{path} is not of type {shape['type']}"
    elif shape["type"] == "array":
        for at, each in enumerate(value):
            yield from schema_violations(each, shape["items"], f"{path}[{at}]")
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
            yield from schema_violations(each, known, f"{path}.{name}")


class Command(msgspec.Struct, frozen=True):
    """A command with its description, its fields, and the fields of `ok`; a field whose name ends
    with `_` is optional.
    """

    description: str
    fields: Mapping[str, Shape] = {}
    ok: Mapping[str, Shape] = {}
    has_client: bool = True

    def ok_schema(self) -> Shape:
        return object_with_underscored_fields_optional(**self.ok)

    def first_violation(self, ok: Any) -> str | None:
        """Return what is wrong with this `ok`; None if it is valid."""
        return next(schema_violations(ok, self.ok_schema(), "ok"), None)
