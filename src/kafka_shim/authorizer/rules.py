"""Differences between releases in decisions about ACLs, as named facts without release numbers."""

from enum import Enum

import msgspec

from kafka_shim.protocol.error_codes import ErrorCode


class Handling(Enum):
    """The result of an ACL request with an invalid code."""

    CLOSE = "the connection is closed without a response"
    BATCH = "every element is answered UNKNOWN_SERVER_ERROR and nothing is done"
    ELEMENT = "the element is answered INVALID_REQUEST, the others go on"
    MATCH_NOTHING = "the filter is legal and matches nothing"


class AclRules(msgspec.Struct, frozen=True, gc=False):
    """The facts about ACLs that changed between releases; the defaults are those of the newest one.

    KRaft brokers use StandardAuthorizer; ZooKeeper brokers use AclAuthorizer, and before that
    SimpleAclAuthorizer. Unless a KIP is named, a fact was measured on real brokers of 21 releases.
    """

    prefixed_patterns: bool = True
    """PREFIXED patterns exist (KIP-290); without them every pattern is LITERAL."""

    delegation_token_resource: bool = True
    """The resource type DELEGATION_TOKEN exists (KIP-48)."""

    user_resource: bool = True
    """The resource type USER and the operations CREATE_TOKENS, DESCRIBE_TOKENS exist (KIP-373)."""

    group_config_operations: bool = True
    """GROUP supports DESCRIBE_CONFIGS and ALTER_CONFIGS (group configurations)."""

    two_phase_commit: bool = True
    """The operation TWO_PHASE_COMMIT exists, on TRANSACTIONAL_ID (KIP-939)."""

    create_zero_code: Handling = Handling.CLOSE
    """CreateAcls with the code 0 (UNKNOWN) in any of the four enums of any element."""

    create_filter_code: Handling = Handling.BATCH
    """CreateAcls with a pattern type, operation or permission that only filters may have (ANY,
    MATCH) in any element."""

    create_any_resource_type: Handling = Handling.BATCH
    """CreateAcls with the resource type ANY in any element. SimpleAclAuthorizer's brokers closed
    the connection over ANY elsewhere, but answered this one, until ResourcePattern refused it."""

    filter_zero_code: Handling = Handling.CLOSE
    """DescribeAcls or DeleteAcls with the code 0 in any enum of any filter. ZooKeeper brokers but
    the last let it match nothing."""

    delete_unmapped_code: Handling = Handling.ELEMENT
    """DeleteAcls with a code that the release does not know (99); AclControlManager refuses it,
    ZooKeeper brokers let it match nothing. DescribeAcls lets it match nothing everywhere."""

    malformed_principal: ErrorCode | None = ErrorCode.INVALID_REQUEST
    """CreateAcls with a principal that has no colon; None: it is stored."""

    empty_host: bool = False
    """CreateAcls with an empty host is accepted, though it matches nobody."""

    host_networks: bool = True
    """Hosts may be networks in CIDR notation, which include their addresses; a `/` in any other
    host is refused. False: hosts are compared as texts."""

    slash_in_name: bool = True
    """Names can be anything. False: they have to be ZooKeeper nodes, so `/`, `.`, `..` and control
    characters are answered UNKNOWN_SERVER_ERROR."""

    slash_inside_name: bool = False
    """Where names are ZooKeeper nodes: a `/` that separates two parts makes a node in a node and
    is accepted (SimpleAclAuthorizer while it used ZkUtils)."""

    exact_deletions: bool = False
    """DeleteAcls whose filters all name one ACL each reads them as ACLs: the pattern type ANY,
    which counts as named, and a principal without a colon are answered INVALID_REQUEST
    (SimpleAclAuthorizer's brokers)."""

    overlapping_filters: bool = True
    """DeleteAcls: an ACL is reported by every filter that matches it, not by one alone."""

    first_filter_reports: bool = True
    """Where one filter alone reports an ACL, it is the first. False: the last; the real order is
    that of a Scala hash map, which is the reverse for up to three filters."""

    wildcard_covers_starred: bool = False
    """Literal `*` covers names like `*eu` too. StandardAuthorizer's search passes over it for
    names that begin with an asterisk; ZooKeeper brokers look it up."""

    search_stops_early: bool = False
    """Prefixes are overlooked when another name lies in between, and with no entry that applies
    `allow.everyone.if.no.acl.found` answers: StandardAuthorizer's first release."""

    everyone_by_resource_type: bool = False
    """`allow.everyone.if.no.acl.found` allows a question by resource type unless a DENY on the
    wildcard applies: AclAuthorizer's own method. False: the interface's default (KIP-679)."""

    batch_limit: int | None = 10_000
    """New ACLs (or deletions) that one request may cause; None: no limit (ZooKeeper)."""

    batch_create_error: ErrorCode = ErrorCode.POLICY_VIOLATION
    """Answer of every element when a CreateAcls request exceeds `batch_limit`."""

    batch_delete_error: ErrorCode = ErrorCode.INVALID_REQUEST
    """Answer of every filter when a DeleteAcls request exceeds `batch_limit`."""


NEWEST_RULES = AclRules()
"""The rules of the newest release."""
