"""An ACL set as tables, for joins with accesses.

An ACL's `rank` is its place in the order in which Kafka's authorizer reads the ACLs of a resource:
the literal pattern, prefixes from long to short, and `*`; within a pattern by operation, principal
and host. It stops at the first DENY, and otherwise reports the last ALLOW. So the deciding ACL is
the DENY with the lowest rank, or else the ALLOW with the highest.
"""

from collections.abc import Iterable

import msgspec
import pyarrow as pa

from kafka_shim.authorizer.acl_rules import (
    acl_rules_of_release,
    operation_bit_field,
    operations_whose_allow_includes,
    operations_whose_deny_includes,
)
from kafka_shim.authorizer.model import ANY_USER, WILDCARD, Acl
from kafka_shim.authorizer.networks import covers_host, parse_network
from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.policy.formats.trace_rule import format_acl_rule
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType

SUPER_USER, DEFAULT_ALLOW, DEFAULT_DENY = -3, -2, -1
"""Rules that are no ACL, in place of a rank."""
_RULE_NAMES = {SUPER_USER: "SuperUser", DEFAULT_ALLOW: "DefaultAllow", DEFAULT_DENY: "DefaultDeny"}
LITERAL_NAME, WILDCARD_NAME = 0, -1
"""Patterns that are no prefix, in place of the length."""

ACLS = pa.schema(
    [
        ("rank", pa.int32()),
        ("pattern", pa.int32()),
        ("principal", pa.string()),
        ("host", pa.string()),
        ("is_deny", pa.bool_()),
        ("covered_operations", pa.int64()),  # the bits of the operations that it applies to
    ]
)
PATTERNS = pa.schema(
    [
        ("pattern", pa.int32()),
        ("resource_type", pa.string()),
        ("prefix_length", pa.int32()),  # or `LITERAL_NAME` or `WILDCARD_NAME`
        ("pattern_name", pa.string()),
        ("is_of_everyone", pa.bool_()),  # whether all its ACLs are of `User:*`, or none
    ]
)
RULES = pa.schema([("rule_number", pa.int32()), ("rule", pa.string())])
OPERATIONS = pa.schema([("operation", pa.string()), ("operation_bit", pa.int64())])
NETWORK_HOSTS = pa.schema([("acl_host", pa.string()), ("host", pa.string())])
PRINCIPALS = pa.schema([("principal", pa.string())])


class AclTables(msgspec.Struct, frozen=True):
    """The tables of ACLs; `ranked_acls` are the ACLs by rank."""

    acls: pa.Table
    patterns: pa.Table
    rules: pa.Table
    ranked_acls: tuple[Acl, ...]


def acl_tables(distinct_acls: Iterable[Acl]) -> AclTables:
    """Return the tables of ACLs."""
    ranked = rank_acls(distinct_acls)
    patterns: dict[tuple[ResourceType, PatternType, str, bool], int] = {}
    numbers = [
        patterns.setdefault(
            (acl.resource_type, acl.pattern_type, acl.resource_name, acl.principal == ANY_USER),
            len(patterns),
        )
        for acl in ranked
    ]
    acls = {
        "rank": list(range(len(ranked))),
        "pattern": numbers,
        "principal": [acl.principal for acl in ranked],
        "host": [acl.host for acl in ranked],
        "is_deny": [acl.permission is Permission.DENY for acl in ranked],
        "covered_operations": [
            _COVERED_OPERATIONS[acl.permission][acl.operation] for acl in ranked
        ],
    }
    names = {
        "pattern": list(patterns.values()),
        "resource_type": [kind.name for kind, *_ in patterns],
        "prefix_length": [_prefix_length(pattern, name) for _, pattern, name, _ in patterns],
        "pattern_name": [name for _, _, name, _ in patterns],
        "is_of_everyone": [is_of_everyone for *_, is_of_everyone in patterns],
    }
    rules = {
        "rule_number": [*_RULE_NAMES, *range(len(ranked))],
        "rule": [*_RULE_NAMES.values(), *map(format_acl_rule, ranked)],
    }
    return AclTables(
        pa.Table.from_pydict(acls, ACLS),
        pa.Table.from_pydict(names, PATTERNS),
        pa.Table.from_pydict(rules, RULES),
        ranked,
    )


def _prefix_length(pattern_type: PatternType, name: str) -> int:
    if pattern_type is PatternType.PREFIXED:
        return len(name)
    return WILDCARD_NAME if name == WILDCARD else LITERAL_NAME


def principal_table(principals: Iterable[str]) -> pa.Table:
    """Return a table of principals."""
    return pa.Table.from_pydict({"principal": list(principals)}, PRINCIPALS)


def rank_acls(acls: Iterable[Acl]) -> tuple[Acl, ...]:
    """Return the ACLs by rank, without duplicates."""
    return tuple(sorted(set(acls), key=_rank_sort_key))


def _rank_sort_key(acl: Acl) -> tuple[bool, int, bool, str, int, int, str, str, int]:
    is_literal = acl.pattern_type is PatternType.LITERAL
    return (
        is_literal and acl.resource_name == WILDCARD,
        -len(acl.resource_name),
        not is_literal,
        acl.resource_name,
        acl.resource_type,
        acl.operation,
        acl.principal,
        acl.host,
        acl.permission,
    )


_COVERED_OPERATIONS = {
    permission: {
        operation: operation_bit_field(
            other for other in Operation if operation in operations_including(other)
        )
        for operation in Operation
    }
    for permission, operations_including in (
        (Permission.ALLOW, operations_whose_allow_includes),
        (Permission.DENY, operations_whose_deny_includes),
    )
}


def operation_table() -> pa.Table:
    """Return the bit of each operation."""
    return pa.Table.from_pylist(
        [{"operation": each.name, "operation_bit": 1 << each} for each in Operation], OPERATIONS
    )


def network_host_table(acl_set: AclSet, hosts: Iterable[str]) -> pa.Table:
    """Return which of these hosts are in the networks of the ACLs."""
    networks = network_hosts(acl_set)
    observed = list(hosts)
    rows = [
        {"acl_host": network, "host": host}
        for network in networks
        for host in observed
        if host != network and covers_host(network, host, host_networks=True)
    ]
    return pa.Table.from_pylist(rows, NETWORK_HOSTS)


def network_hosts(acl_set: AclSet) -> set[str]:
    """Return the hosts of ACLs that are networks by the rules of the release."""
    if not acl_rules_of_release(acl_set.release).host_networks:
        return set()
    return {host for host in {acl.host for acl in acl_set.acls} if parse_network(host) is not None}
