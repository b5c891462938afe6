"""How Kafka releases differ in behaviour: a chain of changes, folded into named facts.

Here are the facts about identities, quotas, features and requests between brokers; those about
topics, settings, records and groups are in `topic_releases.py`, `config_releases.py`,
`record_releases.py` and `group_releases.py`, ACL rules in `authorizer/acl_releases.py`, all in this
form. Version ranges are in `api_versions.py`, required permissions in `authorizer/requirements`.

A handler asks `context.behaviour.<fact>`, never for a release number. To add a difference: a field
(its comment says what True means), its first value in OLDEST, and a Change at the release that
altered it, behind those of the same release.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar

import msgspec

from protocol.api_versions import parse_release, release_index
from protocol.error_codes import ErrorCode

Facts = TypeVar("Facts", bound=msgspec.Struct)


class Behaviour(msgspec.Struct, frozen=True, kw_only=True):
    """What the emulated release does, by name."""

    # authorization
    hides_denied_topics: bool  # without DESCRIBE a topic is 3, and existence comes before the rest
    unasked_operations: int  # authorized operations that nobody asked for
    audit_names_pattern: bool  # the audit line has the type of the resource's pattern
    audit_names_request: bool  # and the API
    audit_names_rule: bool  # and ends in the deciding rule
    audit_acl_brackets: str  # around the ACL that is the rule
    kraft: bool  # metadata is kept by controllers, admin requests are forwarded to them
    authorizer_class: str  # the authorizer that a release brings, as its configuration names it
    # users, quotas and features
    scram_checks_nonce: bool  # the client must repeat the nonce that it was told
    tokens_end_sessions: bool  # a log-in ends with its token, even without a lifetime of log-ins
    late_handshake_tells_mechanisms: bool  # a SaslHandshake after the log-in, which is an error
    failed_token_expiry: int  # in the answer to a token that could not be renewed or expired
    caps_token_renewal: bool  # for no longer than the default, which is what 0 means too
    scram_success_message: str | None  # error message of AlterUserScramCredentials without an error
    scram_denial: str | None  # the text of a denied one
    scram_denial_counts_users: bool  # a denied DescribeUserScramCredentials has a result a user
    quota_success_message: str | None  # error message of DescribeClientQuotas without an error
    quota_denial: str | None  # the text of a denied AlterClientQuotas
    quota_entity_types: tuple[str, ...]  # what quotas can be about
    quota_matches_are_checked: bool  # a filter that matches nothing sensible is 42, not taken so
    quota_may_be_zero: bool  # a limit of 0 is one
    feature_update_message: str | None  # error message of a feature that was updated
    feature_updates_message: str | None  # error message of UpdateFeatures without an error
    unregistering_says_why: bool  # UnregisterBroker carries texts
    unknown_feature_may_be_zero: bool  # a feature that there is not is at level 0 already
    feature_update_error: ErrorCode  # of a feature or level that is not supported
    feature_updates_fail_together: bool  # one failed update is the whole request's error
    # the ACL APIs
    acl_success_message: str | None  # error message of a CreateAcls or DescribeAcls that succeeded
    # requests between brokers
    orders_list_each_duplicate: bool  # a denied LeaderAndIsr or StopReplica, partition by partition
    stale_controller_lists_partitions: bool  # LeaderAndIsr of a controller that is superseded
    # versions
    refused_version_tells_range: bool  # an unknown version of ApiVersions is told the known ones


OLDEST = Behaviour(
    hides_denied_topics=True,
    unasked_operations=0,
    audit_names_pattern=False,
    audit_names_request=False,
    audit_names_rule=False,
    audit_acl_brackets="()",
    kraft=False,
    authorizer_class="kafka.security.auth.SimpleAclAuthorizer",
    scram_checks_nonce=False,
    tokens_end_sessions=False,
    late_handshake_tells_mechanisms=True,
    failed_token_expiry=-1,
    caps_token_renewal=False,
    scram_success_message="",
    scram_denial=None,
    scram_denial_counts_users=False,
    quota_success_message=None,
    quota_denial=None,
    quota_entity_types=("user", "client-id"),
    quota_matches_are_checked=False,
    quota_may_be_zero=True,
    feature_update_message=None,
    feature_updates_message=None,
    unregistering_says_why=False,
    unknown_feature_may_be_zero=False,
    feature_update_error=ErrorCode.INVALID_REQUEST,
    feature_updates_fail_together=False,
    acl_success_message=None,
    orders_list_each_duplicate=False,
    stale_controller_lists_partitions=False,
    refused_version_tells_range=False,
)
"""As 0.11 has it."""


class Change:
    """What one release altered, and why (KIP, KAFKA-id, or the scenario that showed it)."""

    __slots__ = ("facts", "release", "why")

    def __init__(self, release: str, why: str, **facts: Any) -> None:
        self.release = release
        self.why = why
        self.facts = facts


CHANGES: tuple[Change, ...] = (
    Change("1.0", "denied topics are 29 everywhere", hides_denied_topics=False),
    Change("1.1", "late handshakes", late_handshake_tells_mechanisms=False),
    Change("1.1", "partitions of stale controllers", stale_controller_lists_partitions=True),
    Change("2.0", "KIP-290: prefixed patterns", audit_names_pattern=True),
    Change("2.4", "requests between brokers are generated", orders_list_each_duplicate=True),
    Change("2.4", "KIP-511: which versions there are", refused_version_tells_range=True),
    Change(
        "2.4",
        "KIP-504: the authorizer in Java's interface",
        audit_names_request=True,
        authorizer_class="kafka.security.authorizer.AclAuthorizer",
    ),
    Change("2.5", "KAFKA-9386: not asked is Int32.MIN", unasked_operations=-(2**31)),
    Change("2.5", "generated answers have an empty text", acl_success_message=""),
    Change(
        "2.8",
        "quotas in generated answers",
        quota_success_message="",
        quota_denial="cluster authorization failed",
    ),
    Change("2.8", "KIP-612: quotas of addresses", quota_entity_types=("user", "client-id", "ip")),
    Change(
        "3.0",
        "KRaft brokers run the StandardAuthorizer",
        kraft=True,
        audit_names_rule=True,
        authorizer_class="org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    ),
    Change(
        "3.0",
        "FeatureControlManager: as 3.9.1 answers",
        scram_denial_counts_users=True,
        scram_success_message=None,
        scram_denial="cluster authorization failed",
        failed_token_expiry=0,
        caps_token_renewal=True,
        feature_updates_message="",
        unknown_feature_may_be_zero=True,
        feature_update_error=ErrorCode.INVALID_UPDATE_VERSION,
    ),
    Change("3.0", "quotas are kept by controllers", quota_matches_are_checked=True),
    Change("3.3", "KAFKA-13848: a log-in ends with its token", tokens_end_sessions=True),
    Change("3.5", "a quota of 0 is none", quota_may_be_zero=False),
    Change("3.7", "CVE-2024-56128: the nonce in SCRAM", scram_checks_nonce=True),
    Change(
        "4.0",
        "KIP-1022; as 4.3.1 answers",
        unknown_feature_may_be_zero=False,
        feature_updates_fail_together=True,
        feature_update_message="none",
        feature_updates_message=None,
    ),
    Change("4.1", "unregistering says why not", unregistering_says_why=True),
    Change("4.2", "StandardAcl is a record of Java's", audit_acl_brackets="[]"),
)


def fold(oldest: Facts, changes: Sequence[Change], release: str) -> Facts:
    """The facts of a release: the oldest ones with every change up to it applied."""
    at = release_index(parse_release(release))
    facts = oldest
    for change in changes:
        if release_index(change.release) <= at:
            facts = msgspec.structs.replace(facts, **change.facts)
    return facts


@cache
def behaviour_of(release: str) -> Behaviour:
    """The behaviour of a release such as `2.8` or `4.3.1`; ValueError lists the known ones."""
    return fold(OLDEST, CHANGES, release)
