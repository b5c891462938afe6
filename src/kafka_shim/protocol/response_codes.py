"""Reads and replaces the error codes of a response."""

from functools import cache, lru_cache
from typing import Any, NamedTuple

import msgspec

from kafka_shim.protocol.codec.message_spec import StructSpec, load


def error_codes(response: msgspec.Struct, version: int) -> list[int]:
    """Return all error codes except 0 that a response contains in this version, in their order."""
    found: list[int] = []
    _collect(_ways_in_version(type(response).__name__, version), response, found)
    return found


def replace_error_codes(response: msgspec.Struct, code: int, by: int) -> None:
    """Replace an error code everywhere in a response."""
    _replace(_ways_in(type(response).__name__), response, code, by)


def _replace(ways: "tuple[_Way, ...]", value: Any, code: int, by: int) -> None:
    for way in ways:
        content = getattr(value, way.attribute)
        if not way.further:
            if content == code:
                setattr(value, way.attribute, by)
            continue
        for row in (content or ()) if way.is_array else (content,):
            if row is not None:
                _replace(way.further, row, code, by)


class _Way(NamedTuple):
    """A field with an error code, or with elements that have some."""

    attribute: str
    is_array: bool
    further: "tuple[_Way, ...]"


def _collect(ways: tuple[_Way, ...], value: Any, found: list[int]) -> None:
    for way in ways:
        content = getattr(value, way.attribute)
        if not content:
            continue
        if not way.further:
            found.append(content)
        elif way.is_array:
            for row in content:
                _collect(way.further, row, found)
        else:
            _collect(way.further, content, found)


@lru_cache(maxsize=1024)  # clients may send any version of ApiVersions
def _ways_in_version(message: str, version: int) -> tuple[_Way, ...]:
    return _ways(load(message).struct, version)


@cache
def _ways_in(message: str) -> tuple[_Way, ...]:
    return _ways(load(message).struct)


def _ways(spec: StructSpec, version: int | None = None) -> tuple[_Way, ...]:
    """Return the ways to the error codes of one version, or of all if there is none."""
    found = []
    for field in spec.fields:
        if version is not None and not field.versions.has(version):
            continue
        further = () if field.struct is None else _ways(field.struct, version)
        if further or field.name.endswith("ErrorCode"):
            found.append(_Way(field.attribute, field.is_array, further))
    return tuple(found)
