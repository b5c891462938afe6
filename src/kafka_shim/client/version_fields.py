"""The fields of a message that a version cannot encode."""

from typing import Any

from kafka_shim.protocol.codec.message_spec import FieldSpec, StructSpec, load_message_spec


def reset_unsupported_fields(message: Any, version: int) -> Any:
    """Set the fields that the version lacks to their defaults, in place; return the message."""
    _reset_missing_fields(
        load_message_spec(type(message).__name__).top_level_struct, message, version
    )
    return message


def unsupported_field(message: Any, version: int) -> FieldSpec | None:
    """Return the first field that the version lacks and that Kafka does not let a client omit.

    None if there is none, so that the version can carry the message. An empty text is no value.
    """
    spec = load_message_spec(type(message).__name__).top_level_struct
    return _unsupported_field(spec, message, version)


def _unsupported_field(spec: StructSpec, value: Any, version: int) -> FieldSpec | None:
    defaults = type(value)()
    for field in spec.fields:
        content = getattr(value, field.attribute)
        if not field.versions.has(version):
            default = getattr(defaults, field.attribute)
            is_empty = content == default or (default is None and content == "")
            if not field.is_ignorable and not is_empty:
                return field
        elif field.struct is not None and content is not None:
            for row in content if field.is_array else (content,):
                found = _unsupported_field(field.struct, row, version)
                if found is not None:
                    return found
    return None


def _reset_missing_fields(spec: StructSpec, value: Any, version: int) -> None:
    defaults = type(value)()
    for field in spec.fields:
        name = field.attribute
        if not field.versions.has(version):
            setattr(value, name, getattr(defaults, name))
        elif field.struct is not None:
            content = getattr(value, name)
            for row in content if isinstance(content, list) else [content]:
                if row is not None:
                    _reset_missing_fields(field.struct, row, version)
