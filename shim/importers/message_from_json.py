"""Messages from JSON in the spelling of Kafka's request log: the inverse of `wire_json`.

The log has no record contents, only their size; records are left empty.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from protocol.catalogue import classes
from protocol.spec import FieldSpec, StructSpec, load
from protocol.wire_json import json_name


class JsonMessageError(ValueError):
    """The JSON does not describe the message; the text says where."""


def message_from_json(name: str, content: Any) -> Any:
    """A message by its full name, such as `CreateAclsRequest`; unknown keys are passed over.

    Raises JsonMessageError.
    """
    types = classes(name)
    try:
        return _struct(load(name).struct, content, types, name)
    except (TypeError, AttributeError, KeyError) as fault:
        raise JsonMessageError(f"{name}: {fault}") from fault


def _struct(spec: StructSpec, content: Any, types: Mapping[str, Any], where: str) -> Any:
    if not isinstance(content, dict):
        raise JsonMessageError(f"{where}: `{str(content)[:40]}` is no object")
    values = {}
    for field in spec.fields:
        key = json_name(field.name)
        if field.kind == "records" or key not in content:
            continue
        values[field.attribute] = _content(field, content[key], types, f"{where}.{key}")
    return types[spec.name](**values)


def _content(field: FieldSpec, content: Any, types: Mapping[str, Any], where: str) -> Any:
    if content is None:
        return None
    if field.is_array:
        if not isinstance(content, list):
            raise JsonMessageError(f"{where}: `{str(content)[:40]}` is no list")
        return [_one(field, row, types, where) for row in content]
    return _one(field, content, types, where)


def _one(field: FieldSpec, content: Any, types: Mapping[str, Any], where: str) -> Any:
    if field.struct is not None:
        return None if content is None else _struct(field.struct, content, types, where)
    try:
        if field.kind == "uuid":
            return base64.urlsafe_b64decode(f"{content}==")
        if field.kind == "bytes":
            return base64.b64decode(content)
    except (binascii.Error, TypeError, ValueError) as fault:
        raise JsonMessageError(f"{where}: `{str(content)[:40]}` is no base64") from fault
    return content
