"""Fields of an answer that a fault sets: `topics.*.partitions.0.error_code`, and what to.

`*` is every row of an array. Names may also be in Kafka's spelling, as in `errorCode`. A field that
the answer's version does not have stays out.
"""

import copy
import importlib
import types
from collections.abc import Callable, Mapping
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec

from kafka_shim.protocol.codec.message_spec import StructSpec, VersionRange, load_message_spec
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.api_versions_response import ApiVersion, ApiVersionsResponse
from kafka_shim.shim.faults.spec import FaultError, api_named

Alter = Callable[[Any, int], Any]
"""Takes an answer and its version."""
_INT16_MAX = 2**15 - 1


def alteration(api: ApiKey | None, fields: Mapping[str, Any] | None) -> Alter | None:
    """Return what sets these fields in an answer of the API; FaultError for unknown fields."""
    if not fields:
        return None
    if api is None:
        raise FaultError("action.set requires match.api, since each API has other fields")
    response = _response_type(api)
    spec = load_message_spec(response.__name__).struct
    sets = [_set(response, spec, path.split("."), value, path) for path, value in fields.items()]

    def alter(content: Any, version: int) -> Any:
        for path, value, versions in sets:
            if all(each.has(version) for each in versions):
                content = _altered(content, path, value)
        return content

    return alter


def advertising(versions: Mapping[str, list[int] | None] | None) -> Alter | None:
    """Return a change of the APIs in ApiVersions: other versions of one, or (null) none of it."""
    if not versions:
        return None
    wanted = {_key(name): _range(name, limits) for name, limits in versions.items()}

    def alter(response: Any, _: int) -> Any:
        if not isinstance(response, ApiVersionsResponse):
            return response
        kept = [row for row in response.api_keys if row.api_key not in wanted]
        added = [ApiVersion(key, *limits) for key, limits in wanted.items() if limits is not None]
        altered = copy.copy(response)
        altered.api_keys = sorted(kept + added, key=lambda row: row.api_key)
        return altered

    return alter


def _key(name: str) -> int:
    if name.isdigit() and int(name) <= _INT16_MAX:
        return int(name)
    found = api_named(name)
    assert found is not None
    return found


def _range(name: str, limits: list[int] | None) -> tuple[int, int] | None:
    if limits is None:
        return None
    if len(limits) != 2 or not 0 <= limits[0] <= limits[1] <= _INT16_MAX:
        raise FaultError(
            f"action.api_versions.{name} must be [lowest, highest] version or null, not {limits}"
        )
    return limits[0], limits[1]


def _response_type(api: ApiKey) -> Any:
    module = importlib.import_module(f"kafka_shim.protocol.messages.{api.name.lower()}_response")
    return getattr(module, f"{api.wire_name}Response")


def _set(
    kind: Any, spec: StructSpec | None, path: list[str], value: Any, written: str
) -> tuple[list[str], Any, list[VersionRange]]:
    """The path, its value as the field has it, and the versions of the fields on the way."""
    found, versions = [], []
    for name in path:
        kind = _without_null(kind)
        if get_origin(kind) is list:
            if name != "*" and not name.isdigit():
                raise FaultError(f"action.set `{written}`: `{name}` is in an array: a number or *")
            kind = get_args(kind)[0]
            found.append(name)
            continue
        fields = {} if spec is None else {_plain(field.name): field for field in spec.fields}
        field = fields.get(_plain(name))
        if field is None:
            known = ", ".join(each.attribute for each in fields.values())
            hint = f"expected one of {known}" if known else "no fields are below it"
            raise FaultError(f"action.set `{written}`: unknown field `{name}`; {hint}")
        kind = get_type_hints(kind)[field.attribute]
        spec = field.struct
        found.append(field.attribute)
        versions.append(field.versions)
    try:
        return found, msgspec.convert(value, kind), versions
    except msgspec.ValidationError as error:
        raise FaultError(f"action.set `{written}`: {error}") from error


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _without_null(kind: Any) -> Any:
    if get_origin(kind) in (Union, types.UnionType):
        return next(part for part in get_args(kind) if part is not type(None))
    return kind


def _altered(content: Any, path: list[str], value: Any) -> Any:
    """A copy along the path; what is not there stays so."""
    if not path:
        return value
    name, rest = path[0], path[1:]
    if isinstance(content, list):
        return [
            _altered(row, rest, value) if name in ("*", str(at)) else row
            for at, row in enumerate(content)
        ]
    if isinstance(content, msgspec.Struct):
        altered = copy.copy(content)
        setattr(altered, name, _altered(getattr(content, name), rest, value))
        return altered
    return content
