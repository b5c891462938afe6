"""Make messages of JSON in the format of Kafka's request log: the inverse of `wire_json`.

The log has only the size of records, so they are left empty.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from kafka_shim.protocol.codec.catalogue import message_classes
from kafka_shim.protocol.codec.message_spec import FieldSpec, StructSpec, load_message_spec
from kafka_shim.protocol.wire_json import SIZE, lower_camel_case
from kafka_shim.shim.traffic.importers.earlier_names import EARLIER


class JsonMessageError(ValueError):
    """The JSON does not describe the message; the text says where."""


def message_from_json(name: str, content: Any, unknown: set[str]) -> Any:
    """Return a message by its full name, such as `CreateAclsRequest`.

    Unknown keys are ignored, and their places are added to `unknown`. Raise JsonMessageError.
    """
    try:
        return _Reading(message_classes(name), unknown).struct(
            load_message_spec(name).struct, content, name
        )
    except (TypeError, AttributeError, KeyError) as error:
        raise JsonMessageError(f"{name}: {error}") from error


class _Reading:
    """One message: the classes of its structs, and its unknown fields."""

    def __init__(self, types: Mapping[str, Any], unknown: set[str]) -> None:
        self._types = types
        self._unknown = unknown

    def struct(self, spec: StructSpec, content: Any, where: str) -> Any:
        if not isinstance(content, dict):
            raise JsonMessageError(f"{where}: `{str(content)[:40]}` is not an object")
        values = {}
        left = dict(content)
        for field in spec.fields:
            name = lower_camel_case(field.name)
            place = f"{where}.{name}"
            earlier = EARLIER.get(place, name)
            if field.kind == "records":
                for key in (name, f"{name}{SIZE}", f"{earlier}{SIZE}"):
                    left.pop(key, None)
                if field.nullable.high < field.versions.high:  # ShareFetch: null in version 0 only
                    values[field.attribute] = b""
            elif name in left or earlier in left:
                found = left.pop(name if name in left else earlier)
                values[field.attribute] = self._content(field, found, place)
        self._unknown.update(f"{where}.{key}" for key in left)
        return self._types[spec.name](**values)

    def _content(self, field: FieldSpec, content: Any, where: str) -> Any:
        if content is None:
            return None
        if field.is_array:
            if not isinstance(content, list):
                raise JsonMessageError(f"{where}: `{str(content)[:40]}` is not a list")
            return [self._one(field, row, where) for row in content]
        return self._one(field, content, where)

    def _one(self, field: FieldSpec, content: Any, where: str) -> Any:
        if field.struct is not None:
            return None if content is None else self.struct(field.struct, content, where)
        try:
            if field.kind == "uuid":
                return base64.urlsafe_b64decode(f"{content}==")
            if field.kind == "bytes":
                return base64.b64decode(content)
        except (binascii.Error, TypeError, ValueError) as error:
            raise JsonMessageError(f"{where}: `{str(content)[:40]}` is not base64") from error
        return content
