"""How Kafka releases differ about authentications, credentials, delegation tokens and quotas."""

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

    # authentications
    scram_nonce_check: NonceCheck
    sessions_end_with_their_token: bool
    """A session ends when its token expires, even without connections.max.reauth.ms."""
    late_handshake_lists_mechanisms: bool
    """A SaslHandshake after the authentication, an error, lists the mechanisms."""
    second_api_versions_closes_connection: bool
    """A second ApiVersions before the authentication closes the connection."""
    unknown_sasl_mechanism_closes_connection: bool
    """SaslHandshake with an unsupported mechanism closes the connection."""
    plain_ignores_nuls_after_password: bool
    """NUL characters after the password of PLAIN are ignored."""
    # delegation tokens
    failed_token_request_expiry: int
    """Expiry in the response to a failed RenewDelegationToken or ExpireDelegationToken."""
    token_renewal_is_capped_by_default_period: bool
    """A token is renewed for at most the default period; 0 means that period."""
    renew_token_checks_owner_before_expiry: bool
    """RenewDelegationToken: a missing permission is reported before expiry."""
    expire_token_checks_owner_before_expiry: bool
    """ExpireDelegationToken: a missing permission is reported before expiry."""
    expire_token_removes_expired_tokens: bool
    """ExpireDelegationToken with a negative period also removes expired tokens."""
    removed_token_returns_requested_period: bool
    """Its response then has that period (False: the current time)."""
    token_expiry_never_overflows: bool
    """Expiry times end at the largest number (False: they overflow)."""
    # credentials
    alter_scram_ok_message: str | None  # error message of a successful AlterUserScramCredentials
    alter_scram_denial_message: str | None  # error message of a denied AlterUserScramCredentials
    changed_scram_credentials_per_request_max: int | None
    """Maximum number of credentials that one request changes; more are an unknown error (-1)."""
    alter_scram_rejects_repeated_users: bool
    """A user named twice is an error (False: only with the same mechanism)."""
    denied_describe_scram_lists_users: bool
    """A denied DescribeUserScramCredentials has a result for each user."""
    # quotas
    describe_quotas_ok_message: str | None  # error message of a successful DescribeClientQuotas
    alter_quotas_denial_message: str | None  # error message of a denied AlterClientQuotas
    quota_entity_types: tuple[str, ...]  # entity types of quotas
    describe_quotas_rejects_invalid_filter: bool
    """An invalid filter is INVALID_REQUEST (42) (False: it matches nothing)."""
    quota_of_zero_is_valid: bool  # 0 is a valid quota
    quotas_must_be_finite: bool  # NaN and infinity are no quotas
    changed_quotas_per_request_max: int | None
    """Maximum number of limits that one request changes; more are POLICY_VIOLATION (44)."""
    alter_quotas_rejects_repeated_entities: bool
    """A repeated entity or key is an error (False: the last one counts)."""
    quota_filter_accepts_empty_name: bool
    """An exact match may have an empty name (False: UNKNOWN_SERVER_ERROR (-1))."""
    validate_only_counts_for_mutation_quota: bool
    """Validate_only requests count for the controller_mutation_rate quota."""
    describe_quotas_checks_entity_type_first: bool
    """An unknown entity type is reported before other errors of a filter."""


OLDEST = UserFacts(
    scram_nonce_check=NonceCheck.NONE,
    sessions_end_with_their_token=False,
    late_handshake_lists_mechanisms=True,
    second_api_versions_closes_connection=False,
    unknown_sasl_mechanism_closes_connection=False,
    plain_ignores_nuls_after_password=True,
    failed_token_request_expiry=-1,
    token_renewal_is_capped_by_default_period=False,
    renew_token_checks_owner_before_expiry=True,
    expire_token_checks_owner_before_expiry=True,
    expire_token_removes_expired_tokens=False,
    removed_token_returns_requested_period=False,
    token_expiry_never_overflows=False,
    alter_scram_ok_message="",
    alter_scram_denial_message=None,
    changed_scram_credentials_per_request_max=None,
    alter_scram_rejects_repeated_users=False,
    denied_describe_scram_lists_users=False,
    describe_quotas_ok_message=None,
    alter_quotas_denial_message=None,
    quota_entity_types=("user", "client-id"),
    describe_quotas_rejects_invalid_filter=False,
    quota_of_zero_is_valid=True,
    quotas_must_be_finite=False,
    changed_quotas_per_request_max=None,
    alter_quotas_rejects_repeated_entities=False,
    quota_filter_accepts_empty_name=False,
    validate_only_counts_for_mutation_quota=False,
    describe_quotas_checks_entity_type_first=False,
)
"""The facts of 0.11."""

CHANGES: tuple[Change, ...] = (
    Change(
        "1.0",
        "KIP-152: failed authentications get a response",
        second_api_versions_closes_connection=True,
        unknown_sasl_mechanism_closes_connection=True,
    ),
    Change(
        "1.1", "a late SaslHandshake lists no mechanisms", late_handshake_lists_mechanisms=False
    ),
    Change(
        "2.3", "PLAIN messages are parsed more strictly", plain_ignores_nuls_after_password=False
    ),
    Change(
        "2.8",
        "quotas in generated messages",
        describe_quotas_ok_message="",
        alter_quotas_denial_message="cluster authorization failed",
    ),
    Change(
        "2.8", "KIP-612: quotas for IP addresses", quota_entity_types=("user", "client-id", "ip")
    ),
    Change(
        "3.0",
        "controllers manage credentials and tokens, recorded on 3.9.1",
        alter_scram_rejects_repeated_users=True,
        denied_describe_scram_lists_users=True,
        alter_scram_ok_message=None,
        alter_scram_denial_message="cluster authorization failed",
        failed_token_request_expiry=0,
        token_renewal_is_capped_by_default_period=True,
        renew_token_checks_owner_before_expiry=False,
        expire_token_checks_owner_before_expiry=False,
        removed_token_returns_requested_period=True,
    ),
    Change(
        "3.0",
        "controllers manage quotas",
        describe_quotas_rejects_invalid_filter=True,
        alter_quotas_rejects_repeated_entities=True,
        quota_filter_accepts_empty_name=True,
        validate_only_counts_for_mutation_quota=True,
        describe_quotas_checks_entity_type_first=True,
    ),
    Change("3.3", "KAFKA-13848: a session ends with its token", sessions_end_with_their_token=True),
    Change("3.5", "a quota of 0 is invalid", quota_of_zero_is_valid=False),
    Change(
        "3.5",
        "controllers limit what one request changes",
        changed_quotas_per_request_max=10_000,
        changed_scram_credentials_per_request_max=10_000,
    ),
    Change(
        "3.7",
        "expired tokens are removed on request",
        expire_token_checks_owner_before_expiry=True,
        expire_token_removes_expired_tokens=True,
        removed_token_returns_requested_period=False,
    ),
    Change("3.7.2", "CVE-2024-56128: SCRAM checks the nonce", scram_nonce_check=NonceCheck.ENDING),
    Change("3.8.0", "CVE-2024-56128: not in 3.8.0", scram_nonce_check=NonceCheck.NONE),
    Change("3.8.1", "CVE-2024-56128: SCRAM checks the nonce", scram_nonce_check=NonceCheck.ENDING),
    Change("4.0", "SCRAM: the final nonce equals the server's", scram_nonce_check=NonceCheck.WHOLE),
    Change("4.0", "expiry times do not overflow", token_expiry_never_overflows=True),
    Change("4.4", "quotas must be finite numbers", quotas_must_be_finite=True),
)
