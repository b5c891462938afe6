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

from kafka_shim.authorizer.acl_rules import NEWEST_RULES, AclRules, InvalidCodeHandling
from kafka_shim.authorizer.model import Acl, AclFilter
from kafka_shim.authorizer.networks import parse_network
from kafka_shim.authorizer.operations import (
    acl_operations_of_release,
    acl_resource_types_of_release,
)
from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode

E = TypeVar("E", bound=IntEnum)
_CLOSE_CONNECTION = InvalidCodeHandling.CLOSE_CONNECTION
"""A constant: enum attribute lookup is slow on CPython 3.11."""

_ZOOKEEPER_REFUSES = "[\\x00-\\x1f\\x7f-\\x9f\\ud800-\\uf8ff\\ufff0-\\uffff]"


class WireAcl(msgspec.Struct, frozen=True, gc=False):
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
    def enum_codes(self) -> tuple[int, int, int, int]:
        return self.resource_type, self.pattern_type, self.operation, self.permission


class AclElementError(msgspec.Struct, frozen=True, gc=False):
    """The error of one element."""

    error: ErrorCode
    message: str | None = None


class ConnectionCloses(msgspec.Struct, frozen=True, gc=False):
    """The connection is closed instead of answering the request."""

    reason: str


def parse_creations(
    creations: Sequence[WireAcl], rules: AclRules = NEWEST_RULES
) -> list[Acl | AclElementError] | ConnectionCloses:
    """Convert the creations of a CreateAcls request to ACLs, and check each.

    Return one item for each creation, in order, or ConnectionCloses if the release closes
    the connection.
    """
    handled = {InvalidCodeHandling.FAIL_ELEMENT}
    for creation in creations:
        if 0 in creation.enum_codes:
            handled.add(rules.zero_code_in_creation)
        if creation.resource_type == ResourceType.ANY:
            handled.add(rules.any_resource_type_in_creation)
        if _has_wide_filter(creation):
            handled.add(rules.filter_code_in_creation)
    if InvalidCodeHandling.CLOSE_CONNECTION in handled:
        return ConnectionCloses(
            "an ACL to create has a code that only filters may have, or none at all"
        )
    if InvalidCodeHandling.FAIL_ALL_ELEMENTS in handled:
        return [AclElementError(ErrorCode.UNKNOWN_SERVER_ERROR) for _ in creations]
    return [_parse_creation(creation, rules) for creation in creations]


def parse_filter(wire_filter: WireAcl, rules: AclRules = NEWEST_RULES) -> AclFilter:
    """Convert a received filter; codes that the release does not know become UNKNOWN."""
    resource_type, pattern_type, operation, permission = _supported_members(
        wire_filter.enum_codes, rules
    )
    return AclFilter(
        resource_type,
        wire_filter.resource_name,
        pattern_type,
        wire_filter.principal,
        wire_filter.host,
        operation,
        permission,
    )


def parse_filters(
    filters: Sequence[WireAcl], rules: AclRules = NEWEST_RULES
) -> list[AclFilter] | ConnectionCloses:
    """Convert the filters of a DescribeAcls (one) or DeleteAcls request."""
    closes_for_zero = rules.zero_code_in_filter is _CLOSE_CONNECTION
    found = []
    for wire_filter in filters:
        if closes_for_zero and 0 in wire_filter.enum_codes:
            return ConnectionCloses("an ACL filter has the undefined code 0")
        found.append(parse_filter(wire_filter, rules))
    return found


def creation_error(acl: Acl, rules: AclRules = NEWEST_RULES) -> AclElementError | None:
    """Return why this ACL cannot be created; None if it can.

    Like Kafka, this accepts much that looks wrong: an operation that the type does not support, a
    host that is not an address, an invalid topic name, an unknown type of principal.
    """
    return (
        _unsupported_acl_error(acl, rules)
        or _principal_error(acl, rules)
        or _host_error(acl, rules)
    )


def _unsupported_acl_error(acl: Acl, rules: AclRules) -> AclElementError | None:
    unknown = _name_of_field_unsupported_by_release(
        acl.resource_type, acl.pattern_type, acl.operation, acl.permission, rules
    )
    if unknown is not None:
        return _invalid_request_error(f"this release does not support the {unknown} of the ACL")
    is_cluster = acl.resource_type is ResourceType.CLUSTER
    if is_cluster and acl.resource_name != CLUSTER_NAME:
        return _invalid_request_error(
            f"invalid cluster name `{acl.resource_name}`: expected `{CLUSTER_NAME}`, the only"
            " resource of that type"
        )
    if not acl.resource_name:
        return _invalid_request_error("the resource name is empty; name a resource, or `*` for all")
    if not rules.names_can_be_any_text and not _is_valid_zookeeper_node_name(
        acl.resource_name, rules
    ):
        return AclElementError(
            ErrorCode.UNKNOWN_SERVER_ERROR,
            f"the resource name `{acl.resource_name}` cannot be the name of a ZooKeeper node",
        )
    return None


def _principal_error(acl: Acl, rules: AclRules) -> AclElementError | None:
    if ":" not in acl.principal and rules.principal_without_colon_error is not None:
        return AclElementError(
            rules.principal_without_colon_error,
            f"the principal `{acl.principal}` must have the form `Type:name`, as in `User:alice`",
        )
    return None


def _host_error(acl: Acl, rules: AclRules) -> AclElementError | None:
    if not acl.host and not rules.accepts_empty_host:
        return _invalid_request_error(
            "the host is empty; give an address, a network, or `*` for all"
        )
    if rules.host_networks and "/" in acl.host and parse_network(acl.host) is None:
        return _invalid_request_error(
            f"the host `{acl.host}` is not a network: expected an address and a prefix length, as"
            " in `10.0.0.0/8` or `2001:db8::/32`"
        )
    return None


def unknown_code_error_of_deletion_filter(
    acl_filter: AclFilter, rules: AclRules = NEWEST_RULES
) -> AclElementError | None:
    """Return why a DeleteAcls filter is rejected; None if it is not."""
    if rules.unknown_code_in_deletion is not InvalidCodeHandling.FAIL_ELEMENT:
        return None
    if ResourceType.UNKNOWN is acl_filter.resource_type:
        return _invalid_request_error("the filter's resource type is unknown")
    if PatternType.UNKNOWN is acl_filter.pattern_type:
        return _invalid_request_error("the filter's pattern type is unknown")
    if Operation.UNKNOWN is acl_filter.operation:
        return _invalid_request_error("the filter's operation is unknown")
    if Permission.UNKNOWN is acl_filter.permission:
        return _invalid_request_error("the filter's permission is unknown")
    return None


def names_one_acl_for_simple_authorizer(acl_filter: AclFilter) -> bool:
    """Return whether SimpleAclAuthorizer takes the filter as the name of one ACL."""
    return (
        None not in (acl_filter.resource_name, acl_filter.principal, acl_filter.host)
        and acl_filter.resource_type not in (ResourceType.UNKNOWN, ResourceType.ANY)
        and acl_filter.pattern_type not in (PatternType.UNKNOWN, PatternType.MATCH)
        and acl_filter.operation not in (Operation.UNKNOWN, Operation.ANY)
        and acl_filter.permission not in (Permission.UNKNOWN, Permission.ANY)
    )


def malformed_exact_filter_error(acl_filter: AclFilter) -> AclElementError | None:
    """Return why a filter that names one ACL is rejected; None if it is not."""
    if acl_filter.principal is not None and ":" not in acl_filter.principal:
        return _invalid_request_error(
            f"the principal `{acl_filter.principal}` must have the form `Type:name`, as in"
            " `User:alice`"
        )
    if acl_filter.pattern_type is PatternType.ANY:
        return _invalid_request_error(
            "the pattern type of a filter that names one ACL must not be ANY"
        )
    return None


def _parse_creation(creation: WireAcl, rules: AclRules) -> Acl | AclElementError:
    resource_type, pattern_type, operation, permission = _supported_members(
        creation.enum_codes, rules
    )
    acl = Acl(
        resource_type,
        creation.resource_name or "",
        pattern_type,
        creation.principal or "",
        creation.host or "",
        operation,
        permission,
    )
    return creation_error(acl, rules) or acl


def _is_valid_zookeeper_node_name(name: str, rules: AclRules) -> bool:
    return is_valid_zookeeper_subpath(name) and (
        rules.zookeeper_names_can_have_slash or "/" not in name
    )


def is_valid_zookeeper_subpath(name: str) -> bool:
    """Return whether ZooKeeper accepts the name as the end of a path (its PathUtils)."""
    if any(part in ("", ".", "..") for part in name.split("/")):
        return False
    return re.search(_ZOOKEEPER_REFUSES, name) is None


@lru_cache(maxsize=1024)  # ACLs differ in their names and principals
def _name_of_field_unsupported_by_release(
    resource_type: ResourceType,
    pattern_type: PatternType,
    operation: Operation,
    permission: Permission,
    rules: AclRules,
) -> str | None:
    if resource_type not in acl_resource_types_of_release(rules):
        return "resource type"
    if pattern_type not in _supported_pattern_types(rules):
        return "pattern type"
    if operation not in acl_operations_of_release(rules):
        return "operation"
    if permission not in (Permission.ALLOW, Permission.DENY):
        return "permission"
    return None


def _supported_pattern_types(rules: AclRules) -> tuple[PatternType, ...]:
    if rules.has_prefixed_patterns:
        return (PatternType.LITERAL, PatternType.PREFIXED)
    return (PatternType.LITERAL,)


@lru_cache(maxsize=1024)  # finding a member of an enum takes long
def _supported_members(
    codes: tuple[int, int, int, int], rules: AclRules
) -> tuple[ResourceType, PatternType, Operation, Permission]:
    resource_type = _member(ResourceType, codes[0])
    operation = _member(Operation, codes[2])
    if resource_type is not ResourceType.ANY and resource_type not in acl_resource_types_of_release(
        rules
    ):
        resource_type = ResourceType.UNKNOWN
    if operation is not Operation.ANY and operation not in acl_operations_of_release(rules):
        operation = Operation.UNKNOWN
    pattern_type = _member(PatternType, codes[1])
    return resource_type, pattern_type, operation, _member(Permission, codes[3])


def _member(enum: type[E], code: int) -> E:
    """Return the member with this code, or UNKNOWN (0) for unknown codes."""
    try:
        return enum(code)
    except ValueError:
        return enum(0)


def _has_wide_filter(wire_acl: WireAcl) -> bool:
    any_code = 1 in (wire_acl.pattern_type, wire_acl.operation, wire_acl.permission)
    return any_code or wire_acl.pattern_type == PatternType.MATCH


def _invalid_request_error(message: str) -> AclElementError:
    return AclElementError(ErrorCode.INVALID_REQUEST, message)
