"""Reads and replaces the error codes of a response."""

from functools import cache, lru_cache
from typing import Any, NamedTuple

import msgspec

from kafka_shim.protocol.codec.message_spec import StructSpec, load_message_spec


def nonzero_error_codes(response: msgspec.Struct, version: int) -> list[int]:
    """Return all error codes except 0 that a response contains in this version, in their order."""
    codes: list[int] = []
    _append_nonzero_error_codes(
        _error_code_paths_in_version(type(response).__name__, version), response, codes
    )
    return codes


def replace_error_codes(response: msgspec.Struct, code: int, replacement: int) -> None:
    """Replace an error code everywhere in a response."""
    _replace_error_code(
        _error_code_paths_in_all_versions(type(response).__name__), response, code, replacement
    )


def _replace_error_code(
    paths: "tuple[_ErrorCodePath, ...]", value: Any, code: int, replacement: int
) -> None:
    for path in paths:
        content = getattr(value, path.attribute)
        if not path.inner_paths:
            if content == code:
                setattr(value, path.attribute, replacement)
            continue
        for row in (content or ()) if path.is_array else (content,):
            if row is not None:
                _replace_error_code(path.inner_paths, row, code, replacement)


class _ErrorCodePath(NamedTuple):
    """A field with an error code, or with elements that have some."""

    attribute: str
    is_array: bool
    inner_paths: "tuple[_ErrorCodePath, ...]"


def _append_nonzero_error_codes(
    paths: tuple[_ErrorCodePath, ...], value: Any, codes: list[int]
) -> None:
    for path in paths:
        content = getattr(value, path.attribute)
        if not content:
            continue
        if not path.inner_paths:
            codes.append(content)
        elif path.is_array:
            for row in content:
                _append_nonzero_error_codes(path.inner_paths, row, codes)
        else:
            _append_nonzero_error_codes(path.inner_paths, content, codes)


@lru_cache(maxsize=1024)  # clients may send any version of ApiVersions
def _error_code_paths_in_version(message: str, version: int) -> tuple[_ErrorCodePath, ...]:
    return _error_code_paths(load_message_spec(message).top_level_struct, version)


@cache
def _error_code_paths_in_all_versions(message: str) -> tuple[_ErrorCodePath, ...]:
    return _error_code_paths(load_message_spec(message).top_level_struct)


def _error_code_paths(spec: StructSpec, version: int | None = None) -> tuple[_ErrorCodePath, ...]:
    """Return the paths to all error codes of one version, or of all versions."""
    paths = []
    for field in spec.fields:
        if version is not None and not field.versions.has(version):
            continue
        inner_paths = () if field.struct is None else _error_code_paths(field.struct, version)
        if inner_paths or field.name.endswith("ErrorCode"):
            paths.append(_ErrorCodePath(field.attribute, field.is_array, inner_paths))
    return tuple(paths)
