"""Changes of the rules for ACLs between releases, in the form of `protocol.releases`.

They were measured on real brokers: 0.11.0, 1.0, 1.1, 2.0, 2.3 to 2.8 with ZooKeeper; 3.2 to 3.9,
4.0, 4.1, 4.3 and 4.4 with KRaft. KRaft brokers of 3.0 and 3.1 have no authorizer, so these
releases keep the rules of AclAuthorizer.
"""

from functools import cache

from kafka_shim.authorizer.rules import AclRules, Handling
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.releases.change import Change, apply_changes

OLDEST_RULES = AclRules(
    prefixed_patterns=False,
    delegation_token_resource=False,
    user_resource=False,
    group_config_operations=False,
    two_phase_commit=False,
    create_zero_code=Handling.ELEMENT,
    create_filter_code=Handling.CLOSE,
    create_any_resource_type=Handling.ELEMENT,
    filter_zero_code=Handling.MATCH_NOTHING,
    delete_unmapped_code=Handling.MATCH_NOTHING,
    malformed_principal=ErrorCode.INVALID_REQUEST,
    empty_host=True,
    host_networks=False,
    slash_in_name=False,
    slash_inside_name=True,
    exact_deletions=True,
    overlapping_filters=False,
    first_filter_reports=False,
    wildcard_covers_starred=True,
    everyone_by_resource_type=True,
    batch_limit=None,
    batch_create_error=ErrorCode.UNKNOWN_SERVER_ERROR,
    batch_delete_error=ErrorCode.UNKNOWN_SERVER_ERROR,
)
"""As 0.11 has them."""

CHANGES: tuple[Change, ...] = (
    Change("1.1", "KIP-48", delegation_token_resource=True),
    Change("1.1", "names are ZooKeeper nodes, not paths", slash_inside_name=False),
    Change(
        "2.0",
        "KIP-290; ResourcePattern refuses ANY",
        prefixed_patterns=True,
        create_any_resource_type=Handling.CLOSE,
    ),
    Change(
        "2.4",
        "AclAuthorizer: throws where it splits the principal, looks filters up in order",
        malformed_principal=ErrorCode.UNKNOWN_SERVER_ERROR,
        exact_deletions=False,
        first_filter_reports=True,
    ),
    Change(
        "2.5",
        "CreateAcls is generated: its codes are checked while it is parsed",
        create_zero_code=Handling.CLOSE,
        create_filter_code=Handling.BATCH,
        create_any_resource_type=Handling.BATCH,
    ),
    Change("2.8", "filters are checked while they are parsed", filter_zero_code=Handling.CLOSE),
    Change(
        "3.2",
        "KRaft brokers have the StandardAuthorizer",
        delete_unmapped_code=Handling.ELEMENT,
        malformed_principal=None,
        slash_in_name=True,
        overlapping_filters=True,
        wildcard_covers_starred=False,
        search_stops_early=True,
        everyone_by_resource_type=False,
    ),
    Change("3.3", "KIP-373", user_resource=True),
    Change("3.3", "the search is mended", search_stops_early=False),
    Change("3.3", "controllers limit what one request writes", batch_limit=10_000),
    Change("3.5", "a code of its own", batch_create_error=ErrorCode.POLICY_VIOLATION),
    Change("3.9", "checked at CreateAcls", malformed_principal=ErrorCode.INVALID_REQUEST),
    Change("4.0", "group configs", group_config_operations=True),
    Change("4.1", "KIP-939", two_phase_commit=True),
    Change("4.1", "a code of its own", batch_delete_error=ErrorCode.INVALID_REQUEST),
    Change("4.4", "hosts are checked, and may be networks", empty_host=False, host_networks=True),
)


@cache
def rules_of(release: str) -> AclRules:
    """Return the ACL rules of a release such as `2.8` or `4.3.1`."""
    return apply_changes(OLDEST_RULES, CHANGES, release)
