"""How Kafka releases differ about log-ins, credentials, delegation tokens and quotas."""

import msgspec

from kafka_shim.protocol.releases.change import Change


class UserFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the emulated release does about users, by name."""

    # log-ins
    scram_checks_nonce: bool  # the client must repeat the server's nonce
    tokens_end_sessions: bool  # a log-in ends with its token, even without a lifetime of log-ins
    late_handshake_tells_mechanisms: bool  # a SaslHandshake after the log-in, which is an error
    versions_are_told_once: bool  # a second ApiVersions before the log-in closes the connection
    unknown_mechanism_closes: bool  # SaslHandshake: after 33 the connection is closed
    plain_drops_ending_nuls: bool  # NULs behind the password of PLAIN do not count
    # delegation tokens
    failed_token_expiry: int  # in the answer to a token that could not be renewed or expired
    caps_token_renewal: bool  # for no longer than the default, which is what 0 means too
    tokens_renewed_by_owner: (
        bool  # RenewDelegationToken: a missing permission is reported before expiry
    )
    tokens_ended_by_owner: bool  # ExpireDelegationToken: likewise
    expired_tokens_end: bool  # ExpireDelegationToken with a negative period removes them
    ended_token_has_period: bool  # and answers with that period, not with now
    token_ends_are_bounded: bool  # by the largest number, not negative beyond it
    # credentials
    scram_success_message: str | None  # error message of AlterUserScramCredentials without an error
    scram_denial: str | None  # the text of a denied one
    scram_alters_users_once: bool  # a user named twice fails; else only a mechanism named twice
    scram_denial_counts_users: bool  # a denied DescribeUserScramCredentials has a result a user
    # quotas
    quota_success_message: str | None  # error message of DescribeClientQuotas without an error
    quota_denial: str | None  # the text of a denied AlterClientQuotas
    quota_entity_types: tuple[str, ...]  # what quotas can be about
    quota_matches_are_checked: bool  # a filter that matches nothing sensible is 42, not taken so
    quota_may_be_zero: bool  # a limit of 0 is one
    quotas_alter_entities_once: bool  # an entity or key named twice fails; else the last counts
    quota_filter_may_be_empty: bool  # an exact match of an empty name; else it is -1
    quotas_count_validations: bool  # changes of topics that are only validated count as made
    quota_types_are_checked_first: bool  # before what else is wrong with a filter


OLDEST = UserFacts(
    scram_checks_nonce=False,
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
    quotas_alter_entities_once=False,
    quota_filter_may_be_empty=False,
    quotas_count_validations=False,
    quota_types_are_checked_first=False,
)
"""As 0.11 has it."""

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
    Change("3.7", "CVE-2024-56128: the nonce in SCRAM", scram_checks_nonce=True),
    Change("4.0", "tokens that never end", token_ends_are_bounded=True),
)
