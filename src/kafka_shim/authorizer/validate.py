"""Check ACLs and filters as a broker does; errors are returned, and a batch continues.

There are two steps, as in a broker. Reading the codes can end the whole request: the connection is
closed, or every element gets the same error. Checking an ACL affects only that ACL.
"""

import re
from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache
from typing import TypeVar

import msgspec

from kafka_shim.authorizer.implied import operations, resource_types
from kafka_shim.authorizer.model import Acl, AclFilter
from kafka_shim.authorizer.networks import network_of
from kafka_shim.authorizer.rules import NEWEST_RULES, AclRules, Handling
from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode

E = TypeVar("E", bound=IntEnum)

_ZOOKEEPER_REFUSES = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\ud800-\\uf8ff\\ufff0-\\uffff]")


class AclCodes(msgspec.Struct, frozen=True, gc=False):
    """An ACL or a filter as received: its enums may be any codes.

    Texts may be None in a filter only. The pattern type is LITERAL if the request has none (version
    0 of the three ACL APIs).
    """

    resource_type: int
    resource_name: str | None
    pattern_type: int
    principal: str | None
    host: str | None
    operation: int
    permission: int

    @property
    def codes(self) -> tuple[int, int, int, int]:
        return self.resource_type, self.pattern_type, self.operation, self.permission


class Refusal(msgspec.Struct, frozen=True, gc=False):
    """The error of one element."""

    error: ErrorCode
    message: str | None = None


class Closes(msgspec.Struct, frozen=True, gc=False):
    """The connection is closed instead of answering the request."""

    why: str


def read_acls(
    creations: Sequence[AclCodes], rules: AclRules = NEWEST_RULES
) -> list[Acl | Refusal] | Closes:
    """Convert the creations of a CreateAcls request to ACLs, and check each.

    Return one item for each creation, in order, or Closes if the connection is to be closed.
    """
    handled = {Handling.ELEMENT}
    for creation in creations:
        if 0 in creation.codes:
            handled.add(rules.create_zero_code)
        if creation.resource_type == ResourceType.ANY:
            handled.add(rules.create_any_resource_type)
        if _has_filter_code(creation):
            handled.add(rules.create_filter_code)
    if Handling.CLOSE in handled:
        return Closes("an ACL to create has a code that only filters may have, or none at all")
    if Handling.BATCH in handled:
        return [Refusal(ErrorCode.UNKNOWN_SERVER_ERROR) for _ in creations]
    return [_read_acl(creation, rules) for creation in creations]


def read_filter(codes: AclCodes, rules: AclRules = NEWEST_RULES) -> AclFilter:
    """Convert a received filter; codes that the release does not know become UNKNOWN."""
    resource_type, pattern_type, operation, permission = _enums(codes.codes, rules)
    return AclFilter(
        resource_type,
        codes.resource_name,
        pattern_type,
        codes.principal,
        codes.host,
        operation,
        permission,
    )


def read_filters(
    filters: Sequence[AclCodes], rules: AclRules = NEWEST_RULES
) -> list[AclFilter] | Closes:
    """Convert the filters of a DescribeAcls (one) or DeleteAcls request."""
    if rules.filter_zero_code is Handling.CLOSE and any(0 in f.codes for f in filters):
        return Closes("an ACL filter has the undefined code 0")
    return [read_filter(codes, rules) for codes in filters]


def check_acl(acl: Acl, rules: AclRules = NEWEST_RULES) -> Refusal | None:
    """Return why this ACL cannot be created; None if it can.

    Like Kafka, this accepts much that looks wrong: an operation that the type does not support, a
    host that is not an address, an invalid topic name, an unknown type of principal.
    """
    return _check_pattern(acl, rules) or _check_principal(acl, rules) or _check_host(acl, rules)


def _check_pattern(acl: Acl, rules: AclRules) -> Refusal | None:
    unknown = _unknown_field(acl, rules)
    if unknown is not None:
        return _invalid(f"this release does not support the {unknown} of the ACL")
    is_cluster = acl.resource_type is ResourceType.CLUSTER
    if is_cluster and acl.resource_name != CLUSTER_NAME:
        return _invalid(
            f"invalid cluster name `{acl.resource_name}`: expected `{CLUSTER_NAME}`, the only"
            " resource of that type"
        )
    if not acl.resource_name:
        return _invalid("the resource name is empty; name a resource, or `*` for all")
    if not rules.slash_in_name and not _is_node(acl.resource_name, rules):
        return Refusal(
            ErrorCode.UNKNOWN_SERVER_ERROR,
            f"the resource name `{acl.resource_name}` cannot be the name of a ZooKeeper node",
        )
    return None


def _check_principal(acl: Acl, rules: AclRules) -> Refusal | None:
    if ":" not in acl.principal and rules.malformed_principal is not None:
        return Refusal(
            rules.malformed_principal,
            f"the principal `{acl.principal}` must have the form `Type:name`, as in `User:alice`",
        )
    return None


def _check_host(acl: Acl, rules: AclRules) -> Refusal | None:
    if not acl.host and not rules.empty_host:
        return _invalid("the host is empty; give an address, a network, or `*` for all")
    if rules.host_networks and "/" in acl.host and network_of(acl.host) is None:
        return _invalid(
            f"the host `{acl.host}` is not a network: expected an address and a prefix length, as"
            " in `10.0.0.0/8` or `2001:db8::/32`"
        )
    return None


def check_deletion(acl_filter: AclFilter, rules: AclRules = NEWEST_RULES) -> Refusal | None:
    """Return why a DeleteAcls filter is rejected; None if it is not."""
    if rules.delete_unmapped_code is not Handling.ELEMENT:
        return None
    if ResourceType.UNKNOWN is acl_filter.resource_type:
        return _invalid("the filter's resource type is unknown")
    if PatternType.UNKNOWN is acl_filter.pattern_type:
        return _invalid("the filter's pattern type is unknown")
    if Operation.UNKNOWN is acl_filter.operation:
        return _invalid("the filter's operation is unknown")
    if Permission.UNKNOWN is acl_filter.permission:
        return _invalid("the filter's permission is unknown")
    return None


def names_one(acl_filter: AclFilter) -> bool:
    """Return whether SimpleAclAuthorizer takes the filter as the name of one ACL."""
    return (
        None not in (acl_filter.resource_name, acl_filter.principal, acl_filter.host)
        and acl_filter.resource_type not in (ResourceType.UNKNOWN, ResourceType.ANY)
        and acl_filter.pattern_type not in (PatternType.UNKNOWN, PatternType.MATCH)
        and acl_filter.operation not in (Operation.UNKNOWN, Operation.ANY)
        and acl_filter.permission not in (Permission.UNKNOWN, Permission.ANY)
    )


def check_named_deletion(acl_filter: AclFilter) -> Refusal | None:
    """Return why a filter that names one ACL is rejected; None if it is not."""
    if acl_filter.principal is not None and ":" not in acl_filter.principal:
        return _invalid(
            f"the principal `{acl_filter.principal}` must have the form `Type:name`, as in"
            " `User:alice`"
        )
    if acl_filter.pattern_type is PatternType.ANY:
        return _invalid("the pattern type of a filter that names one ACL must not be ANY")
    return None


def _read_acl(creation: AclCodes, rules: AclRules) -> Acl | Refusal:
    resource_type, pattern_type, operation, permission = _enums(creation.codes, rules)
    acl = Acl(
        resource_type,
        creation.resource_name or "",
        pattern_type,
        creation.principal or "",
        creation.host or "",
        operation,
        permission,
    )
    return check_acl(acl, rules) or acl


def _is_node(name: str, rules: AclRules) -> bool:
    return is_zookeeper_path(name) and (rules.slash_inside_name or "/" not in name)


def is_zookeeper_path(name: str) -> bool:
    """Return whether ZooKeeper accepts the name as the end of a path (its PathUtils)."""
    if any(part in ("", ".", "..") for part in name.split("/")):
        return False
    return _ZOOKEEPER_REFUSES.search(name) is None


def _unknown_field(acl: Acl, rules: AclRules) -> str | None:
    if acl.resource_type not in resource_types(rules):
        return "resource type"
    if acl.pattern_type not in _pattern_types(rules):
        return "pattern type"
    if acl.operation not in operations(rules):
        return "operation"
    if acl.permission not in (Permission.ALLOW, Permission.DENY):
        return "permission"
    return None


def _pattern_types(rules: AclRules) -> tuple[PatternType, ...]:
    if rules.prefixed_patterns:
        return (PatternType.LITERAL, PatternType.PREFIXED)
    return (PatternType.LITERAL,)


@lru_cache(maxsize=1024)  # finding a member of an enum takes long
def _enums(
    codes: tuple[int, int, int, int], rules: AclRules
) -> tuple[ResourceType, PatternType, Operation, Permission]:
    resource_type = _known(ResourceType, codes[0])
    operation = _known(Operation, codes[2])
    if resource_type is not ResourceType.ANY and resource_type not in resource_types(rules):
        resource_type = ResourceType.UNKNOWN
    if operation is not Operation.ANY and operation not in operations(rules):
        operation = Operation.UNKNOWN
    pattern_type = _known(PatternType, codes[1])
    return resource_type, pattern_type, operation, _known(Permission, codes[3])


def _known(enum: type[E], code: int) -> E:
    """Return the member with this code, or UNKNOWN (0) for unknown codes."""
    try:
        return enum(code)
    except ValueError:
        return enum(0)


def _has_filter_code(codes: AclCodes) -> bool:
    any_code = 1 in (codes.pattern_type, codes.operation, codes.permission)
    return any_code or codes.pattern_type == PatternType.MATCH


def _invalid(message: str) -> Refusal:
    return Refusal(ErrorCode.INVALID_REQUEST, message)
