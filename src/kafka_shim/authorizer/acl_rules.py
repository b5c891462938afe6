"""Rules of ACLs in each release: the facts that changed, and the operations and resource types.

The changes are in the form of `protocol.releases`. They were measured on real brokers: 0.11.0, 1.0,
1.1, 2.0, 2.3 to 2.8 with ZooKeeper; 3.2 to 3.9, 4.0, 4.1, 4.3 and 4.4 with KRaft. KRaft brokers of
3.0 and 3.1 have no authorizer, so these releases keep the rules of AclAuthorizer. Implications of
operations hold for ALLOW only: denying READ does not deny DESCRIBE (KIP-140, KIP-430).
"""

from collections.abc import Iterable
from enum import Enum
from functools import cache

import msgspec

from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.enums import Operation, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.releases.change import Change, apply_changes_up_to_release


class InvalidCodeHandling(Enum):
    """The result of an ACL request with an invalid code."""

    CLOSE_CONNECTION = "the connection is closed without a response"
    FAIL_ALL_ELEMENTS = "every element is answered UNKNOWN_SERVER_ERROR and nothing is done"
    FAIL_ELEMENT = "the element is answered INVALID_REQUEST, the others go on"
    MATCH_NOTHING = "the filter is legal and matches nothing"


class AclRules(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """The facts about ACLs that changed between releases; the defaults are those of 0.11.

    KRaft brokers use StandardAuthorizer; ZooKeeper brokers use AclAuthorizer, and before that
    SimpleAclAuthorizer. Unless a KIP is named, a fact was measured on real brokers of 21 releases.
    """

    has_prefixed_patterns: bool = False
    """PREFIXED patterns exist (KIP-290); without them every pattern is LITERAL."""

    has_delegation_token_resource: bool = False
    """The resource type DELEGATION_TOKEN exists (KIP-48)."""

    has_user_resource: bool = False
    """The resource type USER and the operations CREATE_TOKENS, DESCRIBE_TOKENS exist (KIP-373)."""

    has_group_config_operations: bool = False
    """GROUP supports DESCRIBE_CONFIGS and ALTER_CONFIGS (group configurations)."""

    has_two_phase_commit: bool = False
    """The operation TWO_PHASE_COMMIT exists, on TRANSACTIONAL_ID (KIP-939)."""

    zero_code_in_creation: InvalidCodeHandling = InvalidCodeHandling.FAIL_ELEMENT
    """CreateAcls with the code 0 (UNKNOWN) in any of the four enums of any element."""

    filter_code_in_creation: InvalidCodeHandling = InvalidCodeHandling.CLOSE_CONNECTION
    """CreateAcls with a pattern type, operation or permission that only filters may have (ANY,
    MATCH) in any element."""

    any_resource_type_in_creation: InvalidCodeHandling = InvalidCodeHandling.FAIL_ELEMENT
    """CreateAcls with the resource type ANY in any element. SimpleAclAuthorizer's brokers closed
    the connection over ANY elsewhere, but answered this one, until ResourcePattern refused it."""

    zero_code_in_filter: InvalidCodeHandling = InvalidCodeHandling.MATCH_NOTHING
    """DescribeAcls or DeleteAcls with the code 0 in any enum of any filter. ZooKeeper brokers but
    the last let it match nothing."""

    unknown_code_in_deletion: InvalidCodeHandling = InvalidCodeHandling.MATCH_NOTHING
    """DeleteAcls with a code that the release does not know (99); AclControlManager refuses it,
    ZooKeeper brokers let it match nothing. DescribeAcls lets it match nothing everywhere."""

    principal_without_colon_error: ErrorCode | None = ErrorCode.INVALID_REQUEST
    """CreateAcls with a principal that has no colon; None: it is stored."""

    accepts_empty_host: bool = True
    """CreateAcls with an empty host is accepted, though it matches nobody."""

    host_networks: bool = False
    """Hosts may be networks in CIDR notation, which include their addresses; a `/` in any other
    host is refused. False: hosts are compared as texts."""

    names_can_be_any_text: bool = False
    """Names can be anything. False: they have to be ZooKeeper nodes, so `/`, `.`, `..` and control
    characters are answered UNKNOWN_SERVER_ERROR."""

    zookeeper_names_can_have_slash: bool = True
    """Where names are ZooKeeper nodes: a `/` that separates two parts makes a node in a node and
    is accepted (SimpleAclAuthorizer while it used ZkUtils)."""

    exact_filters_name_acls: bool = True
    """DeleteAcls whose filters all name one ACL each reads them as ACLs: the pattern type ANY,
    which counts as named, and a principal without a colon are answered INVALID_REQUEST
    (SimpleAclAuthorizer's brokers)."""

    every_matching_filter_reports: bool = False
    """DeleteAcls: an ACL is reported by every filter that matches it, not by one alone."""

    first_matching_filter_reports: bool = False
    """Where one filter alone reports an ACL, it is the first. False: the last; the real order is
    that of a Scala hash map, which is the reverse for up to three filters."""

    wildcard_covers_starred_names: bool = True
    """Literal `*` covers names like `*eu` too. StandardAuthorizer's search passes over it for
    names that begin with an asterisk; ZooKeeper brokers look it up."""

    prefix_search_stops_early: bool = False
    """Prefixes are overlooked when another name lies in between, and with no entry that applies
    `allow.everyone.if.no.acl.found` answers: StandardAuthorizer's first release."""

    allow_everyone_by_resource_type: bool = True
    """`allow.everyone.if.no.acl.found` allows a question by resource type unless a DENY on the
    wildcard applies: AclAuthorizer's own method. False: the interface's default (KIP-679)."""

    batch_limit: int | None = None
    """New ACLs (or deletions) that one request may cause; None: no limit (ZooKeeper)."""

    batch_create_error: ErrorCode = ErrorCode.UNKNOWN_SERVER_ERROR
    """Answer of every element when a CreateAcls request exceeds `batch_limit`."""

    batch_delete_error: ErrorCode = ErrorCode.UNKNOWN_SERVER_ERROR
    """Answer of every filter when a DeleteAcls request exceeds `batch_limit`."""


CHANGES: tuple[Change, ...] = (
    Change("1.1", "KIP-48", has_delegation_token_resource=True),
    Change("1.1", "names are ZooKeeper nodes, not paths", zookeeper_names_can_have_slash=False),
    Change(
        "2.0",
        "KIP-290; ResourcePattern refuses ANY",
        has_prefixed_patterns=True,
        any_resource_type_in_creation=InvalidCodeHandling.CLOSE_CONNECTION,
    ),
    Change(
        "2.4",
        "AclAuthorizer: throws where it splits the principal, looks filters up in order",
        principal_without_colon_error=ErrorCode.UNKNOWN_SERVER_ERROR,
        exact_filters_name_acls=False,
        first_matching_filter_reports=True,
    ),
    Change(
        "2.5",
        "CreateAcls is generated: its codes are checked while it is parsed",
        zero_code_in_creation=InvalidCodeHandling.CLOSE_CONNECTION,
        filter_code_in_creation=InvalidCodeHandling.FAIL_ALL_ELEMENTS,
        any_resource_type_in_creation=InvalidCodeHandling.FAIL_ALL_ELEMENTS,
    ),
    Change(
        "2.8",
        "filters are checked while they are parsed",
        zero_code_in_filter=InvalidCodeHandling.CLOSE_CONNECTION,
    ),
    Change(
        "3.2",
        "KRaft brokers have the StandardAuthorizer",
        unknown_code_in_deletion=InvalidCodeHandling.FAIL_ELEMENT,
        principal_without_colon_error=None,
        names_can_be_any_text=True,
        every_matching_filter_reports=True,
        wildcard_covers_starred_names=False,
        prefix_search_stops_early=True,
        allow_everyone_by_resource_type=False,
    ),
    Change("3.3", "KIP-373", has_user_resource=True),
    Change("3.3", "the search is mended", prefix_search_stops_early=False),
    Change("3.3", "controllers limit what one request writes", batch_limit=10_000),
    Change("3.5", "a code of its own", batch_create_error=ErrorCode.POLICY_VIOLATION),
    Change("3.9", "checked at CreateAcls", principal_without_colon_error=ErrorCode.INVALID_REQUEST),
    Change("4.0", "group configs", has_group_config_operations=True),
    Change("4.1", "KIP-939", has_two_phase_commit=True),
    Change("4.1", "a code of its own", batch_delete_error=ErrorCode.INVALID_REQUEST),
    Change(
        "4.4",
        "hosts are checked, and may be networks",
        accepts_empty_host=False,
        host_networks=True,
    ),
)


@cache
def acl_rules_of_release(release: str) -> AclRules:
    """Return the ACL rules of a release such as `2.8` or `4.3.1`."""
    return apply_changes_up_to_release(AclRules(), CHANGES, release)


NEWEST_RULES = acl_rules_of_release(RELEASES[-1])


_DESCRIBING = frozenset(
    {Operation.DESCRIBE, Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER}
)
_CONFIG_DESCRIBING = frozenset({Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS})


def operations_whose_allow_includes(operation: Operation) -> frozenset[Operation]:
    """Return the operations whose ALLOW entry allows `operation`."""
    if operation is Operation.DESCRIBE:
        return _DESCRIBING | {Operation.ALL}
    if operation is Operation.DESCRIBE_CONFIGS:
        return _CONFIG_DESCRIBING | {Operation.ALL}
    return frozenset({operation, Operation.ALL})


def operations_whose_deny_includes(operation: Operation) -> frozenset[Operation]:
    """Return the operations whose DENY entry denies `operation`; nothing is implied."""
    return frozenset({operation, Operation.ALL})


def supported_operations(
    resource_type: ResourceType, rules: AclRules = NEWEST_RULES
) -> tuple[Operation, ...]:
    """Return the operations of a resource type, in code order; none for ANY and UNKNOWN.

    A broker checks them when a client requests authorized operations (KIP-430).
    """
    op = Operation
    supported: Iterable[Operation]
    match resource_type:
        case ResourceType.TOPIC:
            supported = (op.READ, op.WRITE, op.CREATE, op.DELETE, op.ALTER, op.DESCRIBE)
            supported = (*supported, op.DESCRIBE_CONFIGS, op.ALTER_CONFIGS)
        case ResourceType.GROUP:
            configs = (op.DESCRIBE_CONFIGS, op.ALTER_CONFIGS)
            supported = (op.READ, op.DELETE, op.DESCRIBE)
            supported = (*supported, *(configs if rules.has_group_config_operations else ()))
        case ResourceType.CLUSTER:
            supported = (op.CREATE, op.ALTER, op.DESCRIBE, op.CLUSTER_ACTION)
            supported = (*supported, op.DESCRIBE_CONFIGS, op.ALTER_CONFIGS, op.IDEMPOTENT_WRITE)
        case ResourceType.TRANSACTIONAL_ID:
            supported = (op.WRITE, op.DESCRIBE)
            supported = (
                *supported,
                *((op.TWO_PHASE_COMMIT,) if rules.has_two_phase_commit else ()),
            )
        case ResourceType.DELEGATION_TOKEN if rules.has_delegation_token_resource:
            supported = (op.DESCRIBE,)
        case ResourceType.USER if rules.has_user_resource:
            supported = (op.CREATE_TOKENS, op.DESCRIBE_TOKENS)
        case _:
            supported = ()
    return tuple(supported)


def operation_bit_field(operations: Iterable[Operation]) -> int:
    """Return the bit field of the protocol: bit n is the operation with code n (KIP-430)."""
    bits = 0
    for operation in operations:
        bits |= 1 << operation
    return bits


@cache
def acl_resource_types_of_release(rules: AclRules = NEWEST_RULES) -> frozenset[ResourceType]:
    """Return the resource types that ACLs can have in this release."""
    types = {
        ResourceType.TOPIC,
        ResourceType.GROUP,
        ResourceType.CLUSTER,
        ResourceType.TRANSACTIONAL_ID,
    }
    if rules.has_delegation_token_resource:
        types.add(ResourceType.DELEGATION_TOKEN)
    if rules.has_user_resource:
        types.add(ResourceType.USER)
    return frozenset(types)


@cache
def acl_operations_of_release(rules: AclRules = NEWEST_RULES) -> frozenset[Operation]:
    """Return the operations that ACLs can have in this release, including ALL."""
    known = set(Operation) - {Operation.UNKNOWN, Operation.ANY}
    if not rules.has_user_resource:
        known -= {Operation.CREATE_TOKENS, Operation.DESCRIBE_TOKENS}
    if not rules.has_two_phase_commit:
        known.discard(Operation.TWO_PHASE_COMMIT)
    return frozenset(known)
