"""Remove the fields of a request that a version cannot encode."""

from typing import Any

from kafka_shim.protocol.codec.message_spec import StructSpec, load_message_spec


def fit_to_version(request: Any, version: int) -> Any:
    """Set the fields that the version lacks to their defaults, in place; return the request."""
    _reset_missing_fields(
        load_message_spec(type(request).__name__).top_level_struct, request, version
    )
    return request


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
