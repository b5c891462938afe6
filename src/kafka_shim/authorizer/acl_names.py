"""Names of operations, resource types, pattern types and permissions, in any usual spelling.

Kafka writes `IdempotentWrite` in one place and `IDEMPOTENT_WRITE` in another; both are accepted, as
is `idempotent-write`.
"""

from collections.abc import Sequence
from enum import IntEnum
from functools import cache, lru_cache
from typing import TypeVar

from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, PatternType, Permission, ResourceType

E = TypeVar("E", bound=IntEnum)


_cached = lru_cache(1 << 12)
"""Long lists have the same few words over and over."""


class AclTextError(ValueError):
    """A text, or an object from JSON or YAML, that does not describe ACLs.

    `message` is without the line; `line` is 0 if unknown. `further_errors` are further errors
    in the same text.
    """

    def __init__(
        self, message: str, line: int = 0, further_errors: "Sequence[AclTextError]" = ()
    ) -> None:
        super().__init__(f"line {line}: {message}" if line else message)
        self.message, self.line, self.further_errors = message, line, tuple(further_errors)


def camel_case(member: IntEnum) -> str:
    """Return `IdempotentWrite`, the spelling of kafka-acls."""
    return _camel_case_names(type(member))[member]


@cache
def _camel_case_names(enum: type[IntEnum]) -> dict[int, str]:
    return {
        member: "".join(word.capitalize() for word in member.name.split("_")) for member in enum
    }


@_cached
def parse_operation(text: str) -> Operation:
    """Parse the name of an operation that ACLs can have. Raise AclTextError for others."""
    return _parse_enum_name(Operation, text, "operation", excluded=("UNKNOWN", "ANY"))


@_cached
def parse_resource_type(text: str) -> ResourceType:
    """Parse the name of a resource type that ACLs can have. Raise AclTextError for others."""
    return _parse_enum_name(ResourceType, text, "resource type", excluded=("UNKNOWN", "ANY"))


@_cached
def parse_pattern_type(text: str) -> PatternType:
    """Parse `literal` or `prefixed`. Raise AclTextError for others."""
    return _parse_enum_name(PatternType, text, "pattern type", excluded=("UNKNOWN", "ANY", "MATCH"))


@_cached
def parse_permission(text: str) -> Permission:
    """Parse `allow` or `deny`. Raise AclTextError for others."""
    return _parse_enum_name(Permission, text, "permission", excluded=("UNKNOWN", "ANY"))


def _parse_enum_name(enum: type[E], text: str, kind: str, excluded: tuple[str, ...]) -> E:
    members = _codes_by_normalized_name(enum, excluded)
    code = members.get(_normalize_name(text))
    if code is not None:
        return enum(code)
    names = ", ".join(camel_case(enum(code)) for code in members.values())
    raise AclTextError(
        f"unknown {kind} `{text}`;{_suggestion_for_name(enum, text, members)} one of {names}"
    )


def _suggestion_for_name(enum: type[IntEnum], text: str, members: dict[str, int]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only for what is wrong

    found = get_close_matches(_normalize_name(text), members, n=1, cutoff=0.7)
    return (
        f" did you mean `{camel_case(enum(members[found[0]]))}`? Expected" if found else " expected"
    )


@cache
def _codes_by_normalized_name(enum: type[IntEnum], excluded: tuple[str, ...]) -> dict[str, int]:
    """Return codes by name, in the order of the codes."""
    return {
        _normalize_name(member.name): int(member) for member in enum if member.name not in excluded
    }


def _normalize_name(name: str) -> str:
    return name.strip().replace("_", "").replace("-", "").lower()


def parse_resource(text: str) -> tuple[ResourceType, str]:
    """Parse `topic:orders`, `user:User:x` or `cluster`. Raise AclTextError for anything else."""
    kind, colon, name = text.partition(":")
    if not colon and kind.lower() != "cluster":
        raise AclTextError(
            f"resource `{text}`: expected TYPE:NAME, as in topic:payments, or cluster"
        )
    resource_type = parse_resource_type(kind)
    if resource_type is ResourceType.CLUSTER:
        return resource_type, CLUSTER_NAME
    if not name:
        raise AclTextError(f"resource `{text}`: the name is missing; expected {kind}:NAME")
    return resource_type, name
