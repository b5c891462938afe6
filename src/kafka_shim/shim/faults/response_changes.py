"""Fields of a response that a fault sets: `topics.*.partitions.0.error_code`, and what to.

`*` is every row of an array. Names may also be in Kafka's spelling, as in `errorCode`. A field that
the response's version does not have stays out.
"""

import copy
import importlib
import types
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec

from kafka_shim.protocol.codec.message_spec import StructSpec, VersionRange, load_message_spec
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from kafka_shim.shim.faults.spec import FaultError, parse_api_name

ResponseChange = Callable[[Any, int], Any]
"""Takes a response and its version."""
_INT16_MAX = 2**15 - 1


def build_field_setter(
    api: ApiKey | None, fields: Mapping[str, Any] | None
) -> ResponseChange | None:
    """Return a function that sets fields of a response. Raise FaultError for unknown fields."""
    if not fields:
        return None
    if api is None:
        raise FaultError("action.set requires match.api, since each API has other fields")
    response = _response_class(api)
    spec = load_message_spec(response.__name__).top_level_struct
    field_values = [
        _resolve_field_value(response, spec, path, value) for path, value in fields.items()
    ]

    def alter(content: Any, version: int) -> Any:
        for path, value, versions in field_values:
            if all(each.has(version) for each in versions):
                content = _copy_with_value_at_path(content, path, value)
        return content

    return alter


def build_advertised_versions_change(
    versions: Mapping[str, list[int] | None] | None,
) -> ResponseChange | None:
    """Return a change of the APIs in ApiVersions: other versions of one, or (null) none of it."""
    if not versions:
        return None
    ranges_by_key = {
        _parse_api_key(name): _parse_version_range(name, limits)
        for name, limits in versions.items()
    }

    def alter(response: Any, _: int) -> Any:
        if not isinstance(response, ApiVersionsResponse):
            return response
        unchanged = [row for row in response.api_keys if row.api_key not in ranges_by_key]
        added = [
            ApiVersion(key, *limits) for key, limits in ranges_by_key.items() if limits is not None
        ]
        altered = copy.copy(response)
        altered.api_keys = sorted(unchanged + added, key=lambda row: row.api_key)
        return altered

    return alter


def _parse_api_key(name: str) -> int:
    if name.isdigit() and int(name) <= _INT16_MAX:
        return int(name)
    key = parse_api_name(name)
    assert key is not None
    return key


def _parse_version_range(name: str, limits: list[int] | None) -> tuple[int, int] | None:
    if limits is None:
        return None
    if len(limits) != 2 or not 0 <= limits[0] <= limits[1] <= _INT16_MAX:
        raise FaultError(
            f"action.api_versions.{name} must be [lowest, highest] version or null, not {limits}"
        )
    return limits[0], limits[1]


def _response_class(api: ApiKey) -> Any:
    module = importlib.import_module(f"kafka_shim.protocol.messages.{api.name.lower()}")
    return getattr(module, f"{api.wire_name}Response")


class _FieldValue(NamedTuple):
    """A value for the field at a path; it exists in versions that all of `versions` contain."""

    path: list[str]
    value: Any
    versions: list[VersionRange]


def _resolve_field_value(
    field_type: Any, spec: StructSpec | None, dotted_path: str, value: Any
) -> _FieldValue:
    """Return the path by attributes, and the value in the field's type. Raise FaultError."""
    resolved_path, versions = [], []
    for name in dotted_path.split("."):
        field_type = _type_without_none(field_type)
        if get_origin(field_type) is list:
            if name != "*" and not name.isdigit():
                raise FaultError(
                    f"action.set `{dotted_path}`: `{name}` is in an array: a number or *"
                )
            field_type = get_args(field_type)[0]
            resolved_path.append(name)
            continue
        fields = {} if spec is None else {_folded_name(field.name): field for field in spec.fields}
        field = fields.get(_folded_name(name))
        if field is None:
            field_names = ", ".join(each.attribute for each in fields.values())
            hint = f"expected one of {field_names}" if field_names else "no fields are below it"
            raise FaultError(f"action.set `{dotted_path}`: unknown field `{name}`; {hint}")
        field_type = get_type_hints(field_type)[field.attribute]
        spec = field.struct
        resolved_path.append(field.attribute)
        versions.append(field.versions)
    try:
        return _FieldValue(resolved_path, msgspec.convert(value, field_type), versions)
    except msgspec.ValidationError as error:
        raise FaultError(f"action.set `{dotted_path}`: {error}") from error


def _folded_name(name: str) -> str:
    return name.replace("_", "").lower()


def _type_without_none(kind: Any) -> Any:
    if get_origin(kind) in (Union, types.UnionType):
        return next(part for part in get_args(kind) if part is not type(None))
    return kind


def _copy_with_value_at_path(content: Any, path: list[str], value: Any) -> Any:
    """Return a copy with the value at the path; unchanged where the path does not exist."""
    if not path:
        return value
    name, rest = path[0], path[1:]
    if isinstance(content, list):
        return [
            _copy_with_value_at_path(row, rest, value) if name in ("*", str(at)) else row
            for at, row in enumerate(content)
        ]
    if isinstance(content, msgspec.Struct):
        altered = copy.copy(content)
        setattr(altered, name, _copy_with_value_at_path(getattr(content, name), rest, value))
        return altered
    return content
