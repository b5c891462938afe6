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
    scram_nonce_check: NonceCheck = NonceCheck.NONE
    sessions_end_with_their_token: bool = False
    """A session ends when its token expires, even without connections.max.reauth.ms."""
    late_handshake_lists_mechanisms: bool = True
    """A SaslHandshake after the authentication, an error, lists the mechanisms."""
    second_api_versions_closes_connection: bool = False
    """A second ApiVersions before the authentication closes the connection."""
    unknown_sasl_mechanism_closes_connection: bool = False
    """SaslHandshake with an unsupported mechanism closes the connection."""
    plain_ignores_nuls_after_password: bool = True
    """NUL characters after the password of PLAIN are ignored."""
    # delegation tokens
    failed_token_request_expiry: int = -1
    """Expiry in the response to a failed RenewDelegationToken or ExpireDelegationToken."""
    token_renewal_is_capped_by_default_period: bool = False
    """A token is renewed for at most the default period; 0 means that period."""
    renew_token_checks_owner_before_expiry: bool = True
    """RenewDelegationToken: a missing permission is reported before expiry."""
    expire_token_checks_owner_before_expiry: bool = True
    """ExpireDelegationToken: a missing permission is reported before expiry."""
    expire_token_removes_expired_tokens: bool = False
    """ExpireDelegationToken with a negative period also removes expired tokens."""
    removed_token_returns_requested_period: bool = False
    """Its response then has that period (False: the current time)."""
    token_expiry_never_overflows: bool = False
    """Expiry times end at the largest number (False: they overflow)."""
    # credentials
    alter_scram_ok_message: str | None = ""
    """Error message of a successful AlterUserScramCredentials."""
    alter_scram_denial_message: str | None = None
    """Error message of a denied AlterUserScramCredentials."""
    changed_scram_credentials_per_request_max: int | None = None
    """Maximum number of credentials that one request changes; more are an unknown error (-1)."""
    alter_scram_rejects_repeated_users: bool = False
    """A user named twice is an error (False: only with the same mechanism)."""
    denied_describe_scram_lists_users: bool = False
    """A denied DescribeUserScramCredentials has a result for each user."""
    # quotas
    describe_quotas_ok_message: str | None = None
    """Error message of a successful DescribeClientQuotas."""
    alter_quotas_denial_message: str | None = None  # error message of a denied AlterClientQuotas
    quota_entity_types: tuple[str, ...] = ("user", "client-id")  # entity types of quotas
    describe_quotas_rejects_invalid_filter: bool = False
    """An invalid filter is INVALID_REQUEST (42) (False: it matches nothing)."""
    quotas_must_be_positive: bool = False  # 0 and fractions below it are no quotas
    has_mutation_quota: bool = False  # KIP-599: controller_mutation_rate
    quotas_must_be_finite: bool = False  # NaN and infinity are no quotas
    changed_quotas_per_request_max: int | None = None
    """Maximum number of limits that one request changes; more are POLICY_VIOLATION (44)."""
    alter_quotas_rejects_repeated_entities: bool = False
    """A repeated entity or key is an error (False: the last one counts)."""
    quota_filter_accepts_empty_name: bool = False
    """An exact match may have an empty name (False: UNKNOWN_SERVER_ERROR (-1) for one entity)."""
    validate_only_counts_for_mutation_quota: bool = False
    """Validate_only requests count for the controller_mutation_rate quota."""
    describe_quotas_checks_entity_type_first: bool = False
    """An unknown entity type is reported before other errors of a filter."""


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
    Change("2.7", "KIP-599: quotas for controllers", has_mutation_quota=True),
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
    Change("3.5", "quotas are above 0", quotas_must_be_positive=True),
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
