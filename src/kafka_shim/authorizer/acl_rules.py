"""Differences between releases in decisions about ACLs, as named facts without release numbers."""

from enum import Enum

import msgspec

from kafka_shim.protocol.error_codes import ErrorCode


class InvalidCodeHandling(Enum):
    """The result of an ACL request with an invalid code."""

    CLOSE_CONNECTION = "the connection is closed without a response"
    FAIL_ALL_ELEMENTS = "every element is answered UNKNOWN_SERVER_ERROR and nothing is done"
    FAIL_ELEMENT = "the element is answered INVALID_REQUEST, the others go on"
    MATCH_NOTHING = "the filter is legal and matches nothing"


class AclRules(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """The facts about ACLs that changed between releases; the defaults are those of the newest one.

    KRaft brokers use StandardAuthorizer; ZooKeeper brokers use AclAuthorizer, and before that
    SimpleAclAuthorizer. Unless a KIP is named, a fact was measured on real brokers of 21 releases.
    """

    has_prefixed_patterns: bool = True
    """PREFIXED patterns exist (KIP-290); without them every pattern is LITERAL."""

    has_delegation_token_resource: bool = True
    """The resource type DELEGATION_TOKEN exists (KIP-48)."""

    has_user_resource: bool = True
    """The resource type USER and the operations CREATE_TOKENS, DESCRIBE_TOKENS exist (KIP-373)."""

    has_group_config_operations: bool = True
    """GROUP supports DESCRIBE_CONFIGS and ALTER_CONFIGS (group configurations)."""

    has_two_phase_commit: bool = True
    """The operation TWO_PHASE_COMMIT exists, on TRANSACTIONAL_ID (KIP-939)."""

    zero_code_in_creation: InvalidCodeHandling = InvalidCodeHandling.CLOSE_CONNECTION
    """CreateAcls with the code 0 (UNKNOWN) in any of the four enums of any element."""

    filter_code_in_creation: InvalidCodeHandling = InvalidCodeHandling.FAIL_ALL_ELEMENTS
    """CreateAcls with a pattern type, operation or permission that only filters may have (ANY,
    MATCH) in any element."""

    any_resource_type_in_creation: InvalidCodeHandling = InvalidCodeHandling.FAIL_ALL_ELEMENTS
    """CreateAcls with the resource type ANY in any element. SimpleAclAuthorizer's brokers closed
    the connection over ANY elsewhere, but answered this one, until ResourcePattern refused it."""

    zero_code_in_filter: InvalidCodeHandling = InvalidCodeHandling.CLOSE_CONNECTION
    """DescribeAcls or DeleteAcls with the code 0 in any enum of any filter. ZooKeeper brokers but
    the last let it match nothing."""

    unknown_code_in_deletion: InvalidCodeHandling = InvalidCodeHandling.FAIL_ELEMENT
    """DeleteAcls with a code that the release does not know (99); AclControlManager refuses it,
    ZooKeeper brokers let it match nothing. DescribeAcls lets it match nothing everywhere."""

    principal_without_colon_error: ErrorCode | None = ErrorCode.INVALID_REQUEST
    """CreateAcls with a principal that has no colon; None: it is stored."""

    accepts_empty_host: bool = False
    """CreateAcls with an empty host is accepted, though it matches nobody."""

    host_networks: bool = True
    """Hosts may be networks in CIDR notation, which include their addresses; a `/` in any other
    host is refused. False: hosts are compared as texts."""

    names_can_be_any_text: bool = True
    """Names can be anything. False: they have to be ZooKeeper nodes, so `/`, `.`, `..` and control
    characters are answered UNKNOWN_SERVER_ERROR."""

    zookeeper_names_can_have_slash: bool = False
    """Where names are ZooKeeper nodes: a `/` that separates two parts makes a node in a node and
    is accepted (SimpleAclAuthorizer while it used ZkUtils)."""

    exact_filters_name_acls: bool = False
    """DeleteAcls whose filters all name one ACL each reads them as ACLs: the pattern type ANY,
    which counts as named, and a principal without a colon are answered INVALID_REQUEST
    (SimpleAclAuthorizer's brokers)."""

    every_matching_filter_reports: bool = True
    """DeleteAcls: an ACL is reported by every filter that matches it, not by one alone."""

    first_matching_filter_reports: bool = True
    """Where one filter alone reports an ACL, it is the first. False: the last; the real order is
    that of a Scala hash map, which is the reverse for up to three filters."""

    wildcard_covers_starred_names: bool = False
    """Literal `*` covers names like `*eu` too. StandardAuthorizer's search passes over it for
    names that begin with an asterisk; ZooKeeper brokers look it up."""

    prefix_search_stops_early: bool = False
    """Prefixes are overlooked when another name lies in between, and with no entry that applies
    `allow.everyone.if.no.acl.found` answers: StandardAuthorizer's first release."""

    allow_everyone_by_resource_type: bool = False
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
