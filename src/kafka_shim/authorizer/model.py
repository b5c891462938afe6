"""Types of authorization: ACLs and filters, actors and actions, decisions with reasons."""

from collections.abc import Iterable
from enum import Enum

import msgspec

from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType

WILDCARD = "*"
"""As a literal resource name or as a host: everything."""

ANY_USER = "User:*"
"""The principal of an ACL that applies to every principal, of any type."""


def is_principal(text: str) -> bool:
    """Return whether the text is `Type:name`; the name may be empty, as in Kafka."""
    kind, colon, _ = text.partition(":")
    return bool(kind and colon)


def with_user_type(principal: str) -> str:
    """Return a principal of a broker for tests, where one without a type is a user."""
    return principal if ":" in principal or not principal else f"User:{principal}"


class Acl(msgspec.Struct, frozen=True, gc=False):
    """One access control entry on one resource pattern (KIP-140, KIP-290).

    `principal` is `Type:name`, split at the first colon; `host` is an IP text or `*`.
    """

    resource_type: ResourceType
    resource_name: str
    pattern_type: PatternType
    principal: str
    host: str
    operation: Operation
    permission: Permission

    @property
    def has_known_fields(self) -> bool:
        """Return whether all fields are known and concrete; newer brokers may send others."""
        return (
            self.resource_type > ResourceType.ANY
            and self.operation > Operation.ANY
            and self.pattern_type in (PatternType.LITERAL, PatternType.PREFIXED)
            and self.permission in (Permission.ALLOW, Permission.DENY)
        )

    def to_exact_filter(self) -> "AclFilter":
        """Return the filter that selects only this entry; its pattern may still be ANY or MATCH."""
        return AclFilter(
            self.resource_type,
            self.resource_name,
            self.pattern_type,
            self.principal,
            self.host,
            self.operation,
            self.permission,
        )


class AclFilter(msgspec.Struct, frozen=True, gc=False):
    """Selects ACLs for which all conditions hold; None and ANY select everything."""

    resource_type: ResourceType = ResourceType.ANY
    resource_name: str | None = None
    pattern_type: PatternType = PatternType.ANY
    principal: str | None = None
    host: str | None = None
    operation: Operation = Operation.ANY
    permission: Permission = Permission.ANY


class Actor(msgspec.Struct, frozen=True, gc=False):
    """A principal and its address: `User:alice` from `127.0.0.1` (as Java writes addresses)."""

    principal: str
    host: str


class Action(msgspec.Struct, frozen=True, gc=False):
    """An operation on one named resource."""

    operation: Operation
    resource_type: ResourceType
    resource_name: str


class DecisionReason(Enum):
    """The reason of a decision."""

    SUPER_USER = "super user"
    ACL = "acl"
    DEFAULT_ALLOW = "allow everyone if no ACL found"
    DEFAULT_DENY = "no ACL allows it"
    NO_AUTHORIZER = "no authorizer"


class Decision(msgspec.Struct, frozen=True, gc=False):
    """A decision with its reason; `acl` is the entry that decided, if there is one."""

    allowed: bool
    reason: DecisionReason
    acl: Acl | None = None


def narrowest_allow_acl(action: Action, principal: str, host: str = WILDCARD) -> Acl:
    """Return the ACL that allows a principal this action (and what the operation includes).

    An ACL cannot have an empty name, so `*` stands for that.
    """
    return Acl(
        action.resource_type,
        action.resource_name or WILDCARD,
        PatternType.LITERAL,
        principal,
        host,
        action.operation,
        Permission.ALLOW,
    )


def acls_to_objects(acls: Iterable[Acl]) -> list[dict[str, str]]:
    """Return ACLs as objects with text values; enums are written as `TRANSACTIONAL_ID`."""
    return list(map(acl_to_object, acls))


def acl_to_object(acl: Acl) -> dict[str, str]:
    """Return an ACL as an object with text values."""
    return {
        "principal": acl.principal,
        "host": acl.host,
        "resource_type": acl.resource_type.name,
        "resource_name": acl.resource_name,
        "resource_pattern_type": acl.pattern_type.name,
        "operation": acl.operation.name,
        "permission": acl.permission.name,
    }
