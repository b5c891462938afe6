"""THE place where Kafka releases differ in behaviour: a chain of changes, folded into named facts.

Version ranges are in `api_versions.py`, required permissions in `authorizer/requirements`, ACL
rules in `authorizer/acl_releases.py` (same form). A handler asks `context.behaviour.<fact>`, never
for a release number. To add a difference: a field in `Behaviour` (its comment says what True
means), its first value in OLDEST, and a Change at the release that altered it.
"""

from collections.abc import Mapping, Sequence
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
    audit_names_rule: bool  # the audit line ends in the deciding rule
    kraft: bool  # metadata is kept by controllers, admin requests are forwarded to them
    authorizer_class: str  # the authorizer that a release brings, as its configuration names it
    # users, quotas and features
    scram_checks_nonce: bool  # the client must repeat the nonce that it was told
    tokens_end_sessions: bool  # a log-in ends with its token, even without a lifetime of log-ins
    late_handshake_tells_mechanisms: bool  # a SaslHandshake after the log-in, which is an error
    failed_token_expiry: int  # in the answer to a token that could not be renewed or expired
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
    # topics
    internal_topics: tuple[str, ...]  # those that only coordinators write
    refused_version_tells_range: bool  # an unknown version of ApiVersions is told the known ones
    metadata_checks_names: bool  # an illegal name is 17 even where topics are not made
    metadata_creates_internal: bool  # asking for a coordinator's topic makes it, auto-create or not
    auto_create_error: int  # code of a topic that Metadata has just created
    controller_auto_create_error: int  # the same, where the broker is itself the controller
    create_topics_sees_existing_first: bool  # else only after what is wrong with a topic
    create_topics_sees_settings_first: bool  # else only after partitions and replicas
    create_topics_has_defaults: bool  # -1 partitions or replicas are the broker's default
    create_topics_denial: str | None  # the text of a denial
    answers_each_duplicate: bool  # a name given twice is answered twice, and see KIP-525's code
    create_topics_validates: bool  # validate_only is heeded
    create_partitions_validates: bool  # here, too
    partition_gap_error: int  # code of given replicas that do not number the partitions from 0
    remote_storage_is_checked: bool  # remote.storage.enable needs a broker with remote storage
    bad_config_error: int  # code of a setting that does not parse
    null_config_error: int  # code of a setting without a value, in CreateTopics
    metadata_topic_error: int  # code of making `__cluster_metadata`
    pages_tell_later_denials: bool  # DescribeTopicPartitions has all denied topics in every page
    create_topics_tells_configs: bool  # the settings of a topic just made are in the answer
    topic_names_collide: bool  # names that differ in `.` and `_` only cannot coexist
    topic_deletion_has_code: bool  # that it is switched off has a code of its own
    # settings
    config_resource_types: tuple[int, ...]  # types that have settings
    echoed_resource_types: tuple[int, ...] | None  # types that errors repeat, others are 0
    generated_config_messages: bool  # DescribeConfigs in generated messages, with their faults
    config_success_message: str | None  # error message of a description without an error
    config_denials: Mapping[int, str | None]  # error message of a denial, by its code
    missing_topics_have_no_configs: bool  # a missing topic is 3, and not described by defaults
    dynamic_brokers: bool  # settings of brokers can be altered (KIP-226)
    client_metrics_have_defaults: bool  # a subscription is described with all its settings
    altered_types_are_echoed: bool  # AlterConfigs repeats types that it does not know
    altered_null: str  # AlterConfigs without a value: "fail resource", "fail" all of it, or "close"
    altered_null_error: int  # code of IncrementalAlterConfigs without a value
    altered_config_error: int  # code of a value that a topic's setting cannot take
    altered_names_are_checked: bool  # an illegal topic name is told apart from a missing topic
    altered_topic_missing_error: int  # code of altering a missing topic
    lists_start_as_default: bool  # APPEND to a list that is not set
    # partitions and where they are
    election_not_needed_error: int  # code of an election that would change nothing
    missing_replica_error: int  # code of a replica that is not here
    log_dir_denials_repeat: bool  # a partition named twice in AlterReplicaLogDirs is denied twice
    log_dirs_list_all_topics: bool  # topics that were not asked for are listed, without partitions
    # limits
    records_per_request_max: int | None  # topics and partitions that one request may make


OLDEST = Behaviour(
    hides_denied_topics=True,
    unasked_operations=0,
    audit_names_rule=False,
    kraft=False,
    authorizer_class="kafka.security.auth.SimpleAclAuthorizer",
    scram_checks_nonce=False,
    tokens_end_sessions=False,
    late_handshake_tells_mechanisms=True,
    failed_token_expiry=-1,
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
    internal_topics=("__consumer_offsets", "__transaction_state"),
    refused_version_tells_range=False,
    metadata_checks_names=False,
    metadata_creates_internal=True,
    auto_create_error=5,
    controller_auto_create_error=5,
    create_topics_sees_existing_first=False,
    create_topics_sees_settings_first=True,
    create_topics_has_defaults=False,
    create_topics_denial=None,
    answers_each_duplicate=False,
    create_topics_validates=True,
    create_partitions_validates=True,
    partition_gap_error=0,
    remote_storage_is_checked=False,
    bad_config_error=-1,
    null_config_error=-1,
    metadata_topic_error=0,
    pages_tell_later_denials=True,
    create_topics_tells_configs=True,
    topic_names_collide=True,
    topic_deletion_has_code=False,
    config_resource_types=(2, 4),
    echoed_resource_types=(2, 3, 4),
    generated_config_messages=False,
    config_success_message=None,
    config_denials={},
    missing_topics_have_no_configs=False,
    dynamic_brokers=False,
    client_metrics_have_defaults=False,
    altered_types_are_echoed=False,
    altered_null="fail resource",
    altered_null_error=-1,
    altered_config_error=42,
    altered_names_are_checked=True,
    altered_topic_missing_error=-1,
    lists_start_as_default=False,
    election_not_needed_error=0,
    missing_replica_error=3,
    log_dir_denials_repeat=False,
    log_dirs_list_all_topics=False,
    records_per_request_max=None,
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
    Change("1.1", "KIP-226: dynamic brokers", dynamic_brokers=True),
    Change("1.0", "replicas that are not here", missing_replica_error=9),
    Change("1.1", "partitions of stale controllers", stale_controller_lists_partitions=True),
    Change("2.0", "types of config resources", echoed_resource_types=(2, 4)),
    Change("2.0", "AlterConfigs cannot read null", altered_null="close"),
    Change("2.0", "settings of missing topics", missing_topics_have_no_configs=True),
    Change("2.1", "replicas that are not here are missing partitions", missing_replica_error=3),
    Change("2.1", "KIP-322: deletion switched off is an answer", topic_deletion_has_code=True),
    Change("2.1", "a setting that does not parse has its own code", bad_config_error=40),
    Change(
        "2.3",
        "generated messages of CreateTopics",
        create_topics_denial="authorization failed",
        create_topics_sees_existing_first=True,
        answers_each_duplicate=True,
    ),
    Change(
        "2.4",
        "KIP-412: levels of loggers",
        config_resource_types=(2, 4, 8),
        echoed_resource_types=(2, 4, 8),
    ),
    Change("2.4", "requests between brokers are generated", orders_list_each_duplicate=True),
    Change("2.4", "KIP-511: which versions there are", refused_version_tells_range=True),
    Change("2.4", "KIP-460: elections of any kind", election_not_needed_error=84),
    Change("2.4", "KIP-464: the broker's defaults for topics", create_topics_has_defaults=True),
    Change("2.3", "given replicas have to be complete", partition_gap_error=39),
    Change(
        "2.4",
        "KIP-504: the authorizer in Java's interface",
        authorizer_class="kafka.security.authorizer.AclAuthorizer",
    ),
    Change("2.5", "KAFKA-9386: not asked is Int32.MIN", unasked_operations=-(2**31)),
    Change(
        "2.6",
        "AlterConfigs in generated messages",
        altered_types_are_echoed=True,
        altered_null="fail",
        altered_null_error=42,
        lists_start_as_default=True,
    ),
    Change("2.6", "DescribeLogDirs in generated messages", log_dirs_list_all_topics=True),
    Change(
        "2.7",
        "settings of new topics are looked at last",
        create_topics_sees_settings_first=False,
    ),
    Change("2.7", "AlterReplicaLogDirs in generated messages", log_dir_denials_repeat=True),
    Change("2.6", "null settings are a bad request", null_config_error=42),
    Change(
        "2.7",
        "altering asks for the topic first",
        altered_names_are_checked=False,
        altered_topic_missing_error=3,
    ),
    Change(
        "2.7",
        "DescribeConfigs in generated messages",
        generated_config_messages=True,
        echoed_resource_types=None,
        config_success_message="",
        config_denials={
            29: "topic authorization failed",
            30: "group authorization failed",
            31: "cluster authorization failed",
        },
    ),
    Change(
        "2.8",
        "KAFKA-9751: creation goes through the controller",
        auto_create_error=3,
        metadata_checks_names=True,
        metadata_creates_internal=False,
    ),
    Change(
        "3.0",
        "topics are made by KRaft controllers",
        controller_auto_create_error=3,
        altered_config_error=40,
        altered_names_are_checked=True,
        create_topics_denial="",
        create_topics_tells_configs=False,
        create_topics_validates=False,
        create_partitions_validates=False,
        topic_names_collide=False,
        answers_each_duplicate=False,
        partition_gap_error=-1,
        null_config_error=0,
    ),
    Change(
        "3.0",
        "KRaft brokers run the StandardAuthorizer",
        kraft=True,
        audit_names_rule=True,
        authorizer_class="org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    ),
    Change("2.5", "generated answers have an empty text", acl_success_message=""),
    Change("3.1", "validate_only on KRaft", create_topics_validates=True),
    Change("3.2", "validate_only on KRaft, partitions too", create_partitions_validates=True),
    Change(
        "3.3",
        "KRaft catches up with ZooKeeper",
        create_topics_denial="authorization failed",
        create_topics_tells_configs=True,
        topic_names_collide=True,
        partition_gap_error=39,
        null_config_error=40,
    ),
    Change("3.3", "KAFKA-13848: a log-in ends with its token", tokens_end_sessions=True),
    Change("3.3", "the metadata log cannot be made as a topic", metadata_topic_error=29),
    Change("3.5", "KAFKA-14996: a limit for one request", records_per_request_max=10_000),
    Change("3.6", "KIP-405: remote storage, where there is one", remote_storage_is_checked=True),
    Change("3.7", "CVE-2024-56128: the nonce in SCRAM", scram_checks_nonce=True),
    Change("3.7", "only topics asked for", log_dirs_list_all_topics=False),
    Change("3.7", "KIP-714: subscriptions to metrics", config_resource_types=(2, 4, 8, 16)),
    Change("3.9", "the metadata log is no topic at all", metadata_topic_error=42),
    Change(
        "3.9",
        "KIP-932: the state of share groups",
        internal_topics=("__consumer_offsets", "__transaction_state", "__share_group_state"),
    ),
    Change("4.0", "KIP-848: settings of groups", config_resource_types=(2, 4, 8, 16, 32)),
    Change("4.1", "subscriptions with all settings", client_metrics_have_defaults=True),
    Change("4.1", "topics are filtered page by page", pages_tell_later_denials=False),
    Change("4.2", "topics are filtered before they are sorted", pages_tell_later_denials=True),
    Change(
        "3.0",
        "FeatureControlManager: as 3.9.1 answers",
        scram_denial_counts_users=True,
        scram_success_message=None,
        scram_denial="cluster authorization failed",
        failed_token_expiry=0,
        feature_updates_message="",
        unknown_feature_may_be_zero=True,
        feature_update_error=ErrorCode.INVALID_UPDATE_VERSION,
    ),
    Change(
        "4.0",
        "KIP-1022; as 4.3.1 answers",
        unknown_feature_may_be_zero=False,
        feature_updates_fail_together=True,
        feature_update_message="none",
        feature_updates_message=None,
    ),
    Change(
        "2.8",
        "quotas in generated answers",
        quota_success_message="",
        quota_denial="cluster authorization failed",
    ),
    Change("2.8", "KIP-612: quotas of addresses", quota_entity_types=("user", "client-id", "ip")),
    Change("3.0", "quotas are kept by controllers", quota_matches_are_checked=True),
    Change("3.5", "a quota of 0 is none", quota_may_be_zero=False),
    Change("4.1", "unregistering says why not", unregistering_says_why=True),
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
