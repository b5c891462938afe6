"""Finds messages by API key, and definitions and classes by name."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from kafka_shim.protocol.codec.message_spec import (
    MessageSpec,
    load_message_spec,
    message_module_name,
    struct_class_name,
)
from kafka_shim.protocol.errors import UnsupportedVersionError
from kafka_shim.protocol.messages.apis import APIS, NEVER


def api_name(api_key: int) -> str:
    """Return the API's name, such as `CreateAcls`. Raise UnsupportedVersionError if it is
    unknown.
    """
    api = APIS.get(api_key)
    if api is None:
        raise UnsupportedVersionError(f"unknown API key {api_key}")
    return api[0]


def api_key(name: str) -> int:
    """Return the key of an API by its name, such as `CreateAcls`."""
    for key, api in APIS.items():
        if api[0] == name:
            return key
    raise UnsupportedVersionError(f"unknown API `{name}`")


def has_version(api_key: int, version: int) -> bool:
    """Return whether any release has this version of this API."""
    api = APIS.get(api_key)
    return api is not None and api[1] <= version <= api[2]


def request_versions(api_key: int) -> tuple[int, int]:
    """Return the lowest and the highest version that any release has."""
    api_name(api_key)
    _, low, high, _ = APIS[api_key]
    return low, high


def is_flexible(api_key: int, version: int) -> bool:
    """Return whether this version has compact lengths and tags; False for an unknown API."""
    api = APIS.get(api_key)
    return api is not None and version >= api[3] != NEVER


def message_spec_of_version(message_name: str, version: int) -> MessageSpec:
    """Return a message's definition. Raise UnsupportedVersionError if it has no such version."""
    spec = load_message_spec(message_name)
    if not spec.versions.has(version):
        raise UnsupportedVersionError(
            f"`{message_name}` has versions {spec.versions.text}, and not {version}"
        )
    return spec


@cache
def message_classes_by_name(message_name: str) -> Mapping[str, Any]:
    """Return the classes of a message and of its structs, by name."""
    module = import_module(f"kafka_shim.protocol.messages.{message_module_name(message_name)}")
    structs = load_message_spec(message_name).structs_inner_first
    return {
        name: getattr(module, struct_class_name(name, message_name), None) or getattr(module, name)
        for name in (struct.name for struct in reversed(structs))
    }
