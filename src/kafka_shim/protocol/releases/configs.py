"""How Kafka releases differ about settings."""

from collections.abc import Mapping

import msgspec

from kafka_shim.protocol.releases.change import Change


class ConfigFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of a release about describing and altering settings."""

    config_resource_types: tuple[int, ...]  # resource types with settings
    echoed_resource_types: tuple[int, ...] | None
    """Types that error responses repeat (others become 0); None: all."""
    generated_config_messages: bool  # DescribeConfigs uses the generated messages, with their bugs
    config_success_message: str | None  # error message of a successful description
    config_denials: Mapping[int, str | None]  # error message of a denial, by its code
    missing_topics_have_no_configs: bool
    """A missing topic is an error (False: it is described by defaults)."""
    dynamic_brokers: bool  # settings of brokers can be altered (KIP-226)
    shown_dynamic: tuple[str, ...]
    """Settings that cannot be altered, although DescribeConfigs says they can."""
    shown_fixed: tuple[str, ...]
    """Settings that can be altered, although DescribeConfigs says they cannot."""
    client_metrics_have_defaults: bool  # a metrics subscription is described with all settings
    client_metrics_are_documented: bool  # they have a documentation (False: an empty one)
    controllers_alter_alone: bool
    """The controller alters settings, without checking that topics or brokers exist."""
    settings_are_checked: bool
    """Settings of topics are checked (False: any name and value is accepted)."""
    deletion_takes_no_value: bool
    """IncrementalAlterConfigs: DELETE with a value is INVALID_REQUEST (42)."""
    alterations_are_forwarded: bool  # brokers check what they can before the permission is checked
    altered_denial_is_said: bool  # a denied alteration has an error message
    brokers_are_authorized_first: bool
    """Permissions of brokers come before checks, without an error message."""
    altered_types_are_echoed: bool  # AlterConfigs repeats unknown resource types
    broker_lists_are_distinct: bool
    """Duplicates in a list setting are an error (False: they are removed)."""
    altered_null: str
    """AlterConfigs with a null value: "fail resource", "fail" the request, or "close"."""
    altered_null_error: int  # error code of IncrementalAlterConfigs with a null value
    altered_config_error: int  # error code of an invalid value of a topic's setting
    altered_names_are_checked: bool  # an invalid topic name has another error than a missing topic
    altered_values_before_topics: bool  # an invalid value is reported before a missing topic
    empty_topic_name_error: int  # error code of AlterConfigs for an empty topic name
    empty_topic_name_first: bool
    """IncrementalAlterConfigs reports an empty topic name before all else."""
    altered_topic_missing_error: int  # error code of altering a missing topic
    no_cleaner_error: int  # error code of log.cleaner.threads=0
    lists_start_as_default: bool  # APPEND to a list that is not set begins with its default
    append_skips_present: bool  # APPEND does not add elements that the list has already
    unexpected_errors_are_said: bool  # UNKNOWN_SERVER_ERROR (-1) of altering has a message
    unknown_list_error: int  # error code of APPEND to an unknown broker setting
    unknown_topic_list_is_no_list: bool
    """APPEND to an unknown topic setting fails like one to a setting that is no list."""


OLDEST = ConfigFacts(
    config_resource_types=(2, 4),
    echoed_resource_types=(2, 3, 4),
    generated_config_messages=False,
    config_success_message=None,
    config_denials={},
    missing_topics_have_no_configs=False,
    dynamic_brokers=False,
    shown_dynamic=(),
    shown_fixed=(
        "leader.replication.throttled.rate",
        "follower.replication.throttled.rate",
        "replica.alter.log.dirs.io.max.bytes.per.second",
    ),
    client_metrics_have_defaults=False,
    client_metrics_are_documented=False,
    controllers_alter_alone=False,
    settings_are_checked=True,
    deletion_takes_no_value=False,
    alterations_are_forwarded=False,
    altered_denial_is_said=False,
    brokers_are_authorized_first=False,
    altered_types_are_echoed=False,
    broker_lists_are_distinct=False,
    altered_null="fail resource",
    altered_null_error=-1,
    altered_config_error=42,
    altered_names_are_checked=True,
    altered_values_before_topics=False,
    empty_topic_name_error=17,
    empty_topic_name_first=True,
    altered_topic_missing_error=-1,
    no_cleaner_error=-1,
    lists_start_as_default=False,
    append_skips_present=False,
    unexpected_errors_are_said=True,
    unknown_list_error=-1,
    unknown_topic_list_is_no_list=False,
)
"""The facts of 0.11."""

CHANGES: tuple[Change, ...] = (
    Change(
        "1.1",
        "KIP-226: dynamic brokers",
        dynamic_brokers=True,
        shown_dynamic=(
            "log.retention.hours",
            "log.retention.minutes",
            "log.roll.hours",
            "log.roll.jitter.hours",
        ),
    ),
    Change("2.0", "types of config resources", echoed_resource_types=(2, 4)),
    Change("2.0", "AlterConfigs cannot read null", altered_null="close"),
    Change("2.0", "settings of missing topics", missing_topics_have_no_configs=True),
    Change(
        "2.4",
        "KIP-412: levels of loggers",
        config_resource_types=(2, 4, 8),
        echoed_resource_types=(2, 4, 8),
    ),
    Change("2.4", "no setting is shown as dynamic for another", shown_dynamic=()),
    Change("2.6", "unexpected errors have no message", unexpected_errors_are_said=False),
    Change(
        "2.6",
        "AlterConfigs in generated messages",
        altered_types_are_echoed=True,
        altered_null="fail",
        altered_null_error=42,
        lists_start_as_default=True,
    ),
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
        "3.0",
        "settings are altered by KRaft controllers",
        alterations_are_forwarded=True,
        altered_denial_is_said=True,
        altered_config_error=40,
        no_cleaner_error=42,
        altered_names_are_checked=True,
        altered_values_before_topics=True,
        empty_topic_name_error=42,
        empty_topic_name_first=False,
        append_skips_present=True,
        unknown_topic_list_is_no_list=True,
    ),
    Change(
        "3.0",
        "the first KRaft controllers",
        controllers_alter_alone=True,
        settings_are_checked=False,
        deletion_takes_no_value=True,
    ),
    Change(
        "3.1",
        "controllers check settings of topics",
        settings_are_checked=True,
        deletion_takes_no_value=False,
    ),
    Change(
        "3.2",
        "KAFKA-13552: brokers check what they can before controllers",
        controllers_alter_alone=False,
    ),
    Change("3.7", "KIP-714: subscriptions to metrics", config_resource_types=(2, 4, 8, 16)),
    Change("4.0", "KIP-848: settings of groups", config_resource_types=(2, 4, 8, 16, 32)),
    Change(
        "4.1",
        "subscriptions with all settings",
        client_metrics_have_defaults=True,
        client_metrics_are_documented=True,
    ),
    Change("4.2", "altering a broker, as 4.2.2 answers", brokers_are_authorized_first=True),
    Change("4.3", "altering a broker, as 4.3.1 answers", brokers_are_authorized_first=False),
    Change("4.3", "throttled rates are not shown as read-only", shown_fixed=()),
    Change("4.3", "APPEND looks whether there is such a setting", unknown_list_error=40),
    Change(
        "4.4",
        "altering a broker, as 4.4.0 answers: brokers ask, and then their controller",
        brokers_are_authorized_first=True,
        broker_lists_are_distinct=True,
    ),
)
