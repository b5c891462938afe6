"""Check ACLs and filters as a broker does; errors are returned, and a batch continues.

There are two steps, as in a broker. Reading the codes can end the whole request: the connection is
closed, or every element gets the same error. Checking an ACL affects only that ACL.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

import msgspec

from kafka_shim.authorizer.acl_rules import (
    NEWEST_RULES,
    AclRules,
    InvalidCodeHandling,
    acl_operations_of_release,
    acl_resource_types_of_release,
)
from kafka_shim.authorizer.model import Acl, AclFilter
from kafka_shim.authorizer.networks import parse_network
from kafka_shim.protocol.code_names import enum_member
from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode

_Members = tuple[ResourceType, PatternType, Operation, Permission]
# module constants: enum attribute lookup is slow on CPython 3.11
_CLOSE_CONNECTION = InvalidCodeHandling.CLOSE_CONNECTION
_CLUSTER = ResourceType.CLUSTER

_ZOOKEEPER_REFUSES = "[\\x00-\\x1f\\x7f-\\x9f\\ud800-\\uf8ff\\ufff0-\U0010ffff]"
ZOOKEEPER_DOTS = (".", "..")
"""Users and clients whose settings ZooKeeper cannot store; their other names are encoded."""


class WireAcl(msgspec.Struct, frozen=True, gc=False):
    """A filter of ACLs as received: its enums may be any codes.

    The pattern type is LITERAL if the request has none (version 0 of the three ACL APIs).
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


class WireAclCreation(Protocol):
    """An ACL to create as in the request: its enums may be any codes."""

    resource_type: int
    resource_name: str
    resource_pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int


class AclElementError(msgspec.Struct, frozen=True, gc=False):
    """The error of one element."""

    error: ErrorCode
    message: str | None = None


class ConnectionCloses(msgspec.Struct, frozen=True, gc=False):
    """The connection is closed instead of answering the request."""

    reason: str


def parse_creations(
    creations: Sequence[WireAclCreation], rules: AclRules = NEWEST_RULES
) -> list[Acl | AclElementError] | ConnectionCloses:
    """Convert the creations of a CreateAcls request to ACLs, and check each.

    Return one item for each creation, in order, or ConnectionCloses if the release closes
    the connection.
    """
    codes_of_creations = [
        (each.resource_type, each.resource_pattern_type, each.operation, each.permission_type)
        for each in creations
    ]
    distinct_codes = set(codes_of_creations)  # few, also in a request with a million ACLs
    handled = {InvalidCodeHandling.FAIL_ELEMENT}
    for codes in distinct_codes:
        if 0 in codes:
            handled.add(rules.zero_code_in_creation)
        if codes[0] == ResourceType.ANY:
            handled.add(rules.any_resource_type_in_creation)
        if 1 in codes[1:] or codes[1] == PatternType.MATCH:
            handled.add(rules.filter_code_in_creation)
    if InvalidCodeHandling.CLOSE_CONNECTION in handled:
        return ConnectionCloses(
            "an ACL to create has a code that only filters may have, or none at all"
        )
    if InvalidCodeHandling.FAIL_ALL_ELEMENTS in handled:
        return [AclElementError(ErrorCode.UNKNOWN_SERVER_ERROR) for _ in creations]
    members = {codes: _supported_members(codes, rules) for codes in distinct_codes}
    errors = {codes: _unsupported_field_error(*members[codes], rules) for codes in distinct_codes}
    acls = [
        errors[codes] or _parse_creation(creation, members[codes], rules)
        for creation, codes in zip(creations, codes_of_creations, strict=True)
    ]
    if rules.principal_without_colon_error is ErrorCode.UNKNOWN_SERVER_ERROR:
        return _failing_by_pattern(creations, acls)
    return acls


def _failing_by_pattern(
    creations: Sequence[WireAclCreation], acls: list[Acl | AclElementError]
) -> list[Acl | AclElementError]:
    """Fail ACLs of a pattern for which another cannot be stored: AclAuthorizer stores all of a
    pattern together (2.8.2, seed 81768).
    """
    failed = {
        (each.resource_type, each.resource_name, each.resource_pattern_type): acl
        for each, acl in zip(creations, acls, strict=True)
        if isinstance(acl, AclElementError) and acl.error is ErrorCode.UNKNOWN_SERVER_ERROR
    }
    if not failed:
        return acls
    return [
        failed.get((acl.resource_type, acl.resource_name, acl.pattern_type), acl)
        if isinstance(acl, Acl)
        else acl
        for acl in acls
    ]


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
    error = _unsupported_field_error(
        acl.resource_type, acl.pattern_type, acl.operation, acl.permission, rules
    )
    return error or _name_error(acl, rules)


def _name_error(acl: Acl, rules: AclRules) -> AclElementError | None:
    name, principal, host = acl.resource_name, acl.principal, acl.host
    if acl.resource_type is _CLUSTER and name != CLUSTER_NAME:
        return _invalid_request_error(
            f"invalid cluster name `{name}`: expected `{CLUSTER_NAME}`, the only resource of that"
            " type"
        )
    if not name:
        return _invalid_request_error("the resource name is empty; name a resource, or `*` for all")
    if not rules.names_can_be_any_text and not _is_valid_zookeeper_node_name(name, rules):
        return AclElementError(
            ErrorCode.UNKNOWN_SERVER_ERROR,
            f"the resource name `{name}` cannot be the name of a ZooKeeper node",
        )
    if ":" not in principal and rules.principal_without_colon_error is not None:
        return AclElementError(
            rules.principal_without_colon_error,
            f"the principal `{principal}` must have the form `Type:name`, as in `User:alice`",
        )
    return _host_error(host, rules) if not host or "/" in host else None


def _host_error(host: str, rules: AclRules) -> AclElementError | None:
    if not host and not rules.accepts_empty_host:
        return _invalid_request_error(
            "the host is empty; give an address, a network, or `*` for all"
        )
    if rules.host_networks and "/" in host and parse_network(host) is None:
        return _invalid_request_error(
            f"the host `{host}` is not a network: expected an address and a prefix length, as in"
            " `10.0.0.0/8` or `2001:db8::/32`"
        )
    return None


def deletion_filter_error(
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


def is_exact_simple_filter(acl_filter: AclFilter) -> bool:
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


def _parse_creation(
    creation: WireAclCreation, members: _Members, rules: AclRules
) -> Acl | AclElementError:
    resource_type, pattern_type, operation, permission = members
    acl = Acl(
        resource_type,
        creation.resource_name,
        pattern_type,
        creation.principal,
        creation.host,
        operation,
        permission,
    )
    return _name_error(acl, rules) or acl


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
def _unsupported_field_error(
    resource_type: ResourceType,
    pattern_type: PatternType,
    operation: Operation,
    permission: Permission,
    rules: AclRules,
) -> AclElementError | None:
    field = None
    if resource_type not in acl_resource_types_of_release(rules):
        field = "resource type"
    elif pattern_type not in _supported_pattern_types(rules):
        field = "pattern type"
    elif operation not in acl_operations_of_release(rules):
        field = "operation"
    elif permission not in (Permission.ALLOW, Permission.DENY):
        field = "permission"
    if field is None:
        return None
    return _invalid_request_error(f"this release does not support the {field} of the ACL")


def _supported_pattern_types(rules: AclRules) -> tuple[PatternType, ...]:
    if rules.has_prefixed_patterns:
        return (PatternType.LITERAL, PatternType.PREFIXED)
    return (PatternType.LITERAL,)


@lru_cache(maxsize=1024)  # finding a member of an enum takes long
def _supported_members(codes: tuple[int, int, int, int], rules: AclRules) -> _Members:
    resource_type = enum_member(ResourceType, codes[0])
    operation = enum_member(Operation, codes[2])
    if resource_type is not ResourceType.ANY and resource_type not in acl_resource_types_of_release(
        rules
    ):
        resource_type = ResourceType.UNKNOWN
    if operation is not Operation.ANY and operation not in acl_operations_of_release(rules):
        operation = Operation.UNKNOWN
    pattern_type = enum_member(PatternType, codes[1])
    return resource_type, pattern_type, operation, enum_member(Permission, codes[3])


def _invalid_request_error(message: str) -> AclElementError:
    return AclElementError(ErrorCode.INVALID_REQUEST, message)
