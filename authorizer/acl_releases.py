"""How the rules about ACLs changed from release to release, in the form of `protocol.releases`."""

from functools import cache

from authorizer.rules import AclRules, Handling
from protocol.error_codes import ErrorCode
from protocol.releases import Change, fold

OLDEST_RULES = AclRules(
    prefixed_patterns=False,
    delegation_token_resource=False,
    user_resource=False,
    group_config_operations=False,
    two_phase_commit=False,
    create_zero_code=Handling.ELEMENT,
    create_filter_code=Handling.CLOSE,
    filter_zero_code=Handling.ELEMENT,
    malformed_principal=ErrorCode.INVALID_REQUEST,
    slash_in_name=False,
    overlapping_filters=False,
    everyone_by_resource_type=True,
    batch_limit=None,
)
"""As 0.11 has them."""

CHANGES: tuple[Change, ...] = (
    Change("1.1", "KIP-48", delegation_token_resource=True),
    Change("2.0", "KIP-290", prefixed_patterns=True),
    Change(
        "2.4",
        "AclAuthorizer throws where it splits the principal",
        malformed_principal=ErrorCode.UNKNOWN_SERVER_ERROR,
    ),
    Change(
        "2.5",
        "generated ACL requests check their codes while they are parsed",
        create_zero_code=Handling.CLOSE,
        create_filter_code=Handling.BATCH,
        filter_zero_code=Handling.CLOSE,
    ),
    Change(
        "3.0",
        "KRaft brokers run the StandardAuthorizer",
        malformed_principal=None,
        slash_in_name=True,
        overlapping_filters=True,
        everyone_by_resource_type=False,
        batch_limit=10_000,
    ),
    Change("3.3", "KIP-373", user_resource=True),
    Change("3.9", "checked at CreateAcls", malformed_principal=ErrorCode.INVALID_REQUEST),
    Change("4.0", "group configs", group_config_operations=True),
    Change("4.1", "KIP-939", two_phase_commit=True),
)


@cache
def rules_of(release: str) -> AclRules:
    """The ACL rules of a release such as `2.8` or `4.3.1`."""
    return fold(OLDEST_RULES, CHANGES, release)
