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


class PlainForm:
    """Converts messages to plain values; subclasses choose other names, fields and values.

    This form is that of Kafka's request log.
    """

    def message(self, message_struct: msgspec.Struct, version: int) -> dict[str, Any]:
        """Return a request, response or data message as plain values."""
        spec = load_message_spec(type(message_struct).__name__).top_level_struct
        return self.struct(spec, message_struct, version)

    def struct(self, spec: StructSpec, value: Any, version: int) -> dict[str, Any]:
        fields = {}
        for field in spec.fields:
            if field.versions.has(version):
                content = getattr(value, field.attribute)
                if self.has(field, content, version):
                    fields[self.name(field)] = self.content(field, content, version)
        return fields

    def has(self, field: FieldSpec, content: Any, version: int) -> bool:
        """Return whether a field of the version is in this form."""
        return not field.tagged_versions.has(version) or not _is_default(field, content)

    def name(self, field: FieldSpec) -> str:
        suffix = SIZE if field.element_kind == "records" else ""
        return f"{lower_first_letter(field.name)}{suffix}"

    def content(self, field: FieldSpec, content: Any, version: int) -> Any:
        if field.element_kind == "records":
            return self.records(content)
        if content is None:
            return None
        if field.is_array:
            return self.rows(field, [self._element(field, row, version) for row in content])
        return self._element(field, content, version)

    def records(self, content: bytes | None) -> Any:
        return len(content or b"")

    def rows(self, field: FieldSpec, rows: list[Any]) -> list[Any]:
        """Return the converted elements of an array in the order of this form."""
        del field
        return rows

    def leaf(self, field: FieldSpec, value: Any) -> Any:
        """Return a value that is neither null nor a struct."""
        if field.element_kind == "uuid":
            return uuid_text(value)
        return base64.b64encode(value).decode() if isinstance(value, bytes) else value

    def _element(self, field: FieldSpec, value: Any, version: int) -> Any:
        if value is None:
            return None
        if field.struct is not None:
            return self.struct(field.struct, value, version)
        return self.leaf(field, value)


message_json = PlainForm().message


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
