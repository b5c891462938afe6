"""Converts messages to JSON in the form of Kafka's request log (KIP-673).

Names are in lowerCamelCase. Only fields of the version are written, tagged ones only if they differ
from the default, and records as their size.
"""

import base64
from functools import cache
from typing import Any

import msgspec

from kafka_shim.protocol.codec.message_spec import FieldSpec, StructSpec, load_message_spec

SIZE = "SizeInBytes"
"""Suffix of the name of a field with records, of which the log has only the size."""


def message_json(message_struct: msgspec.Struct, version: int) -> dict[str, Any]:
    """Return a request, response or data message as plain values."""
    return _struct_json(
        load_message_spec(type(message_struct).__name__).top_level_struct, message_struct, version
    )


def _struct_json(spec: StructSpec, value: msgspec.Struct, version: int) -> dict[str, Any]:
    json_fields = {}
    for field in spec.fields:
        if not field.versions.has(version):
            continue
        content = getattr(value, field.attribute)
        if field.tagged_versions.has(version) and _is_default(field, content):
            continue
        if field.element_kind == "records":
            json_fields[f"{lower_first_letter(field.name)}{SIZE}"] = len(content or b"")
        else:
            json_fields[lower_first_letter(field.name)] = _field_json(field, content, version)
    return json_fields


def _field_json(field: FieldSpec, content: Any, version: int) -> Any:
    if content is None:
        return None
    if field.is_array:
        return [_single_value_json(field, row, version) for row in content]
    return _single_value_json(field, content, version)


def _single_value_json(field: FieldSpec, content: Any, version: int) -> Any:
    if field.struct is not None:
        return None if content is None else _struct_json(field.struct, content, version)
    if field.element_kind == "uuid":
        return uuid_text(content)
    if isinstance(content, bytes):
        return base64.b64encode(content).decode()
    return content


def _is_default(field: FieldSpec, content: Any) -> bool:
    if field.default is ...:
        return bool(content == type(content)())
    return bool(content == field.default)


def uuid_text(raw: bytes) -> str:
    """Return a UUID in Kafka's form: base64 for URLs, without padding."""
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def uuid_bytes(text: str) -> bytes:
    """Return the bytes of a UUID in Kafka's form: the inverse of `uuid_text`."""
    return base64.urlsafe_b64decode(f"{text}==")


@cache
def lower_first_letter(camel_case_name: str) -> str:
    """Return a name in lowerCamelCase: `topicData` for `TopicData`."""
    return camel_case_name[0].lower() + camel_case_name[1:]
