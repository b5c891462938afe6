"""A row of the access tables, whether it was recorded, logged or derived, and its names."""

from functools import cache

import msgspec

from kafka_shim.protocol.code_names import api_name_or_key, enum_member
from kafka_shim.protocol.enums import Operation, ResourceType

DECISION_COLUMNS = (
    *("principal", "host", "api_key"),
    *("operation", "resource_type", "resource_name", "instead"),
)
"""The columns of `observed` that an authorizer's decision depends on."""


class AccessRow(msgspec.Struct, frozen=True, gc=False):
    """An access, its role in the request, and its decision; `allowed` is None if unknown."""

    sequence: int
    time_us: int
    api_key: int
    api_version: int
    operation: int
    resource_type: int
    resource_name: str
    role: str
    instead: tuple[str, ...]
    source: str
    allowed: bool | None
    rule: str
    count: int = 1


api_name = cache(api_name_or_key)


@cache
def operation_name(code: int) -> str:
    """Return the operation's name; UNKNOWN for a code of a newer writer, whose access is kept."""
    return enum_member(Operation, code).name


@cache
def resource_type_name(code: int) -> str:
    """Return the resource type's name; UNKNOWN for a code of a newer writer."""
    return resource_type_of(code).name


def resource_type_of(code: int) -> ResourceType:
    """Return the resource type; UNKNOWN for a code of a newer writer."""
    return enum_member(ResourceType, code)
