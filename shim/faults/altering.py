"""Fields of an answer that a fault sets: `topics.*.partitions.0.error_code`, and what to.

Names are those of the JSON that the control API shows of answers; `*` is every row of an array.
"""

import copy
import importlib
import types
from collections.abc import Callable, Mapping
from typing import Any, Union, get_args, get_origin

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.api_versions_response import ApiVersion, ApiVersionsResponse
from kafka_shim.shim.faults.spec import FaultError, api_named

Alter = Callable[[Any], Any]
_INT16_MAX = 2**15 - 1


def alteration(api: ApiKey | None, fields: Mapping[str, Any] | None) -> Alter | None:
    """Return what sets these fields in an answer of the API; FaultError for unknown fields."""
    if not fields:
        return None
    if api is None:
        raise FaultError("action.set needs match.api, to know the fields of its answers")
    answer = _answer_type(api)
    sets = [_set(answer, path.split("."), value, path) for path, value in fields.items()]

    def alter(content: Any) -> Any:
        for path, value in sets:
            content = _altered(content, path, value)
        return content

    return alter


def advertising(versions: Mapping[str, list[int] | None] | None) -> Alter | None:
    """Return what changes which APIs ApiVersions tells: other versions of one, or (null) none."""
    if not versions:
        return None
    wanted = {_key(name): _range(name, limits) for name, limits in versions.items()}

    def alter(answer: Any) -> Any:
        if not isinstance(answer, ApiVersionsResponse):
            return answer
        kept = [row for row in answer.api_keys if row.api_key not in wanted]
        added = [ApiVersion(key, *limits) for key, limits in wanted.items() if limits is not None]
        altered = copy.copy(answer)
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
            f"action.api_versions.{name} is [lowest, highest] version or null, not {limits}"
        )
    return limits[0], limits[1]


def _answer_type(api: ApiKey) -> Any:
    module = importlib.import_module(f"kafka_shim.protocol.messages.{api.name.lower()}_response")
    return getattr(module, f"{api.wire_name}Response")


def _set(kind: Any, path: list[str], value: Any, written: str) -> tuple[list[str], Any]:
    """The path with its value as the field has it."""
    for name in path:
        kind = _without_null(kind)
        if get_origin(kind) is list:
            if name != "*" and not name.isdigit():
                raise FaultError(f"action.set `{written}`: `{name}` is in an array: a number or *")
            kind = get_args(kind)[0]
            continue
        fields = (
            {field.name: field.type for field in msgspec.structs.fields(kind)}
            if isinstance(kind, type) and issubclass(kind, msgspec.Struct)
            else {}
        )
        if name not in fields:
            known = ", ".join(fields) or "nothing"
            raise FaultError(f"action.set `{written}`: no field `{name}`; there is {known}")
        kind = fields[name]
    try:
        return path, msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise FaultError(f"action.set `{written}`: {error}") from error


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
