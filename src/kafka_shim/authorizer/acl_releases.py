"""Changes of the rules for ACLs between releases, in the form of `protocol.releases`.

They were measured on real brokers: 0.11.0, 1.0, 1.1, 2.0, 2.3 to 2.8 with ZooKeeper; 3.2 to 3.9,
4.0, 4.1, 4.3 and 4.4 with KRaft. KRaft brokers of 3.0 and 3.1 have no authorizer, so these
releases keep the rules of AclAuthorizer.
"""

from functools import cache

from kafka_shim.authorizer.acl_rules import AclRules, InvalidCodeHandling
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.releases.change import Change, apply_changes_up_to_release

OLDEST_RULES = AclRules(
    has_prefixed_patterns=False,
    has_delegation_token_resource=False,
    has_user_resource=False,
    has_group_config_operations=False,
    has_two_phase_commit=False,
    zero_code_in_creation=InvalidCodeHandling.FAIL_ELEMENT,
    filter_code_in_creation=InvalidCodeHandling.CLOSE_CONNECTION,
    any_resource_type_in_creation=InvalidCodeHandling.FAIL_ELEMENT,
    zero_code_in_filter=InvalidCodeHandling.MATCH_NOTHING,
    unknown_code_in_deletion=InvalidCodeHandling.MATCH_NOTHING,
    principal_without_colon_error=ErrorCode.INVALID_REQUEST,
    accepts_empty_host=True,
    host_networks=False,
    names_can_be_any_text=False,
    zookeeper_names_can_have_slash=True,
    exact_filters_name_acls=True,
    every_matching_filter_reports=False,
    first_matching_filter_reports=False,
    wildcard_covers_starred_names=True,
    allow_everyone_by_resource_type=True,
    batch_limit=None,
    batch_create_error=ErrorCode.UNKNOWN_SERVER_ERROR,
    batch_delete_error=ErrorCode.UNKNOWN_SERVER_ERROR,
)
"""As 0.11 has them."""

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
    return apply_changes_up_to_release(OLDEST_RULES, CHANGES, release)
