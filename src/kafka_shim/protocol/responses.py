"""Reads responses: error codes, which it also replaces, and names with errors or topic ids."""

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple

import msgspec

from kafka_shim.protocol.codec.message_spec import StructSpec, load_message_spec
from kafka_shim.protocol.enums import ApiKey

NAMING_APIS = (ApiKey.METADATA, ApiKey.CREATE_TOPICS, ApiKey.DESCRIBE_TOPIC_PARTITIONS)
"""APIs whose responses have names of topics with their ids."""

_NAMES = ("name", "topic", "topic_name", "group_id", "transactional_id", "resource_name", "key")
_NO_ID = bytes(16)
_CONFIG_ERROR = "topic_config_error_code"
"""CreateTopics: the error for returning a topic's configs, not for creating the topic."""
ErrorCodesByName = dict[str | bytes | None, set[int]]
"""Error codes by the name or topic id of their element; None: codes outside of elements.

Every named element of a response has an entry; an empty set means no error.
"""


def error_codes_by_name(response: Any) -> ErrorCodesByName:
    """Return the errors of a response, each under all names of the elements around it."""
    errors: ErrorCodesByName = {}
    _add_error_codes_by_name(response, (None,), errors)
    return errors


def topic_ids_with_names(response: Any) -> Iterator[tuple[bytes, str]]:
    """Return topic ids with names, from a response of one of `NAMING_APIS`."""
    for topic in response.topics:
        if topic.name and topic.topic_id != _NO_ID:
            yield bytes(topic.topic_id), topic.name


def topic_error_codes(response: Any) -> dict[str, tuple[int, int]]:
    """Return the error code of each topic, and that of its settings, by its name."""
    return {
        topic.name: (topic.error_code, topic.topic_config_error_code) for topic in response.topics
    }


def has_error_codes_of_elements(response: Any) -> bool:
    """Return whether a response has an element with a field for its error, zero or not."""
    message_class: type[msgspec.Struct] = type(response)
    return any(
        bool(_error_fields(type(item))[1]) or has_error_codes_of_elements(item)
        for name in _error_fields(message_class)[2]
        for item in _iter_structs(getattr(response, name))
    )


def _iter_structs(value: Any) -> Iterator[msgspec.Struct]:
    """Yield the messages in the value of a field."""
    for item in value if isinstance(value, list) else (value,):
        if isinstance(item, msgspec.Struct):
            yield item


def _add_error_codes_by_name(
    message: Any, names_around: tuple[str | bytes | None, ...], errors: ErrorCodesByName
) -> None:
    message_class: type[msgspec.Struct] = type(message)
    names, codes, inner = _error_fields(message_class)
    own = tuple(value for name in names if (value := getattr(message, name)) and value != _NO_ID)
    if own:
        names_around = own if names_around == (None,) else (*names_around, *own)
        for key in own:
            errors.setdefault(key, set())
    for name in codes:
        code = getattr(message, name)
        for key in names_around if code else ():
            errors.setdefault(key, set()).add(code)
    for name in inner:
        for item in _iter_structs(getattr(message, name)):
            _add_error_codes_by_name(item, names_around, errors)


@cache
def _error_fields(
    message_class: type[msgspec.Struct],
) -> tuple[list[str], list[str], list[str]]:
    """The fields of a class that are names or error codes, or that may contain some."""
    hints = message_class.__annotations__
    fields = message_class.__struct_fields__
    codes = [name for name in fields if name.endswith("error_code") and name != _CONFIG_ERROR]
    names = [name for name in fields if name in _NAMES or name == "topic_id"]
    inner = [
        name for name in fields if "list[" in str(hints[name]) or _is_struct_annotation(hints[name])
    ]
    return names, codes, inner


def _is_struct_annotation(hint: object) -> bool:
    text = hint if isinstance(hint, str) else getattr(hint, "__name__", str(hint))
    return text.split(" ")[0] not in {"int", "str", "bytes", "bool", "float", "Tags"}


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
