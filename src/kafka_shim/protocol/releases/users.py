"""How Kafka releases differ about log-ins, credentials, delegation tokens and quotas."""

from enum import Enum

import msgspec

from kafka_shim.protocol.releases.change import Change


class NonceCheck(Enum):
    """What the nonce of SCRAM's final message must be."""

    NONE = "anything"
    ENDING = "a text that ends with the nonces of client and server"
    WHOLE = "the nonces of client and server"


class UserFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of a release about users."""

    # log-ins
    scram_nonce_check: NonceCheck
    tokens_end_sessions: bool
    """A session ends when its token expires, even without connections.max.reauth.ms."""
    late_handshake_tells_mechanisms: bool
    """A SaslHandshake after the log-in, an error, lists the mechanisms."""
    versions_are_told_once: bool  # a second ApiVersions before the log-in closes the connection
    unknown_mechanism_closes: bool
    """SaslHandshake with an unsupported mechanism closes the connection."""
    plain_drops_ending_nuls: bool  # NUL characters after the password of PLAIN are ignored
    # delegation tokens
    failed_token_expiry: int
    """Expiry in the response to a failed RenewDelegationToken or ExpireDelegationToken."""
    caps_token_renewal: bool
    """A token is renewed for at most the default period; 0 means that period."""
    tokens_renewed_by_owner: bool
    """RenewDelegationToken: a missing permission is reported before expiry."""
    tokens_ended_by_owner: bool
    """ExpireDelegationToken: a missing permission is reported before expiry."""
    expired_tokens_end: bool
    """ExpireDelegationToken with a negative period also removes expired tokens."""
    ended_token_has_period: bool  # its response then has that period (False: the current time)
    token_ends_are_bounded: bool  # expiry times end at the largest number (False: they overflow)
    # credentials
    scram_success_message: str | None  # error message of a successful AlterUserScramCredentials
    scram_denial: str | None  # error message of a denied AlterUserScramCredentials
    scram_alters_users_once: bool
    """A user named twice is an error (False: only with the same mechanism)."""
    scram_denial_counts_users: bool
    """A denied DescribeUserScramCredentials has a result for each user."""
    # quotas
    quota_success_message: str | None  # error message of a successful DescribeClientQuotas
    quota_denial: str | None  # error message of a denied AlterClientQuotas
    quota_entity_types: tuple[str, ...]  # entity types of quotas
    quota_matches_are_checked: bool
    """An invalid filter is INVALID_REQUEST (42) (False: it matches nothing)."""
    quota_may_be_zero: bool  # 0 is a valid quota
    quotas_are_finite: bool  # NaN and infinity are no quotas
    quotas_alter_entities_once: bool
    """A repeated entity or key is an error (False: the last one counts)."""
    quota_filter_may_be_empty: bool
    """An exact match may have an empty name (False: UNKNOWN_SERVER_ERROR (-1))."""
    quotas_count_validations: bool
    """Validate_only requests count for the controller_mutation_rate quota."""
    quota_types_are_checked_first: bool
    """An unknown entity type is reported before other errors of a filter."""


OLDEST = UserFacts(
    scram_nonce_check=NonceCheck.NONE,
    tokens_end_sessions=False,
    late_handshake_tells_mechanisms=True,
    versions_are_told_once=False,
    unknown_mechanism_closes=False,
    plain_drops_ending_nuls=True,
    failed_token_expiry=-1,
    caps_token_renewal=False,
    tokens_renewed_by_owner=True,
    tokens_ended_by_owner=True,
    expired_tokens_end=False,
    ended_token_has_period=False,
    token_ends_are_bounded=False,
    scram_success_message="",
    scram_denial=None,
    scram_alters_users_once=False,
    scram_denial_counts_users=False,
    quota_success_message=None,
    quota_denial=None,
    quota_entity_types=("user", "client-id"),
    quota_matches_are_checked=False,
    quota_may_be_zero=True,
    quotas_are_finite=False,
    quotas_alter_entities_once=False,
    quota_filter_may_be_empty=False,
    quotas_count_validations=False,
    quota_types_are_checked_first=False,
)
"""The facts of 0.11."""

CHANGES: tuple[Change, ...] = (
    Change(
        "1.0",
        "KIP-152: log-ins that fail are answered",
        versions_are_told_once=True,
        unknown_mechanism_closes=True,
    ),
    Change("1.1", "late handshakes", late_handshake_tells_mechanisms=False),
    Change("2.3", "messages of PLAIN are read more strictly", plain_drops_ending_nuls=False),
    Change(
        "2.8",
        "quotas in generated answers",
        quota_success_message="",
        quota_denial="cluster authorization failed",
    ),
    Change("2.8", "KIP-612: quotas of addresses", quota_entity_types=("user", "client-id", "ip")),
    Change(
        "3.0",
        "credentials and tokens are kept by controllers: as 3.9.1 answers",
        scram_alters_users_once=True,
        scram_denial_counts_users=True,
        scram_success_message=None,
        scram_denial="cluster authorization failed",
        failed_token_expiry=0,
        caps_token_renewal=True,
        tokens_renewed_by_owner=False,
        tokens_ended_by_owner=False,
        ended_token_has_period=True,
    ),
    Change(
        "3.0",
        "quotas are kept by controllers",
        quota_matches_are_checked=True,
        quotas_alter_entities_once=True,
        quota_filter_may_be_empty=True,
        quotas_count_validations=True,
        quota_types_are_checked_first=True,
    ),
    Change("3.3", "KAFKA-13848: a log-in ends with its token", tokens_end_sessions=True),
    Change("3.5", "a quota of 0 is none", quota_may_be_zero=False),
    Change(
        "3.7",
        "tokens that end",
        tokens_ended_by_owner=True,
        expired_tokens_end=True,
        ended_token_has_period=False,
    ),
    Change("3.7.2", "CVE-2024-56128: the nonce in SCRAM", scram_nonce_check=NonceCheck.ENDING),
    Change("3.8.0", "CVE-2024-56128: not in 3.8.0", scram_nonce_check=NonceCheck.NONE),
    Change("3.8.1", "CVE-2024-56128: the nonce in SCRAM", scram_nonce_check=NonceCheck.ENDING),
    Change("4.0", "SCRAM: nothing goes before the nonces", scram_nonce_check=NonceCheck.WHOLE),
    Change("4.0", "tokens that never end", token_ends_are_bounded=True),
    Change("4.4", "quotas that are no finite number", quotas_are_finite=True),
)
