"""How Kafka releases differ about settings."""

from collections.abc import Mapping

import msgspec

from kafka_shim.protocol.releases.change import Change


class ConfigFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of a release about describing and altering settings."""

    describable_config_resource_types: tuple[int, ...] = (2, 4)  # resource types with settings
    config_errors_echo_resource_types: tuple[int, ...] | None = (2, 3, 4)
    """Types that error responses repeat (others become 0); None: all."""
    describe_configs_uses_generated_messages: bool = False
    """DescribeConfigs uses the generated messages, with their bugs."""
    describe_configs_ok_message: str | None = None  # error message of a successful description
    describe_configs_denial_messages: Mapping[int, str | None] = {}
    """Error message of a denial, by its code."""
    describe_configs_rejects_missing_topics: bool = False
    """A missing topic is an error (False: it is described by defaults)."""
    broker_configs_can_be_altered: bool = False  # settings of brokers can be altered (KIP-226)
    configs_wrongly_shown_as_alterable: tuple[str, ...] = ()
    """Settings that cannot be altered, although DescribeConfigs says they can."""
    configs_wrongly_shown_as_read_only: tuple[str, ...] = (
        "leader.replication.throttled.rate",
        "follower.replication.throttled.rate",
        "replica.alter.log.dirs.io.max.bytes.per.second",
    )
    """Settings that can be altered, although DescribeConfigs says they cannot."""
    altered_brokers_list_internal_configs: bool = False
    """A broker lists its internal settings, too, once any setting was altered."""
    client_metrics_describe_default_configs: bool = False
    """A metrics subscription is described with all settings."""
    client_metrics_configs_have_documentation: bool = False
    """They have a documentation (False: an empty one)."""
    controller_alters_configs_unchecked: bool = False
    """The controller alters settings, without checking that topics or brokers exist."""
    topic_configs_are_validated: bool = True
    """Settings of topics are checked (False: any name and value is accepted)."""
    config_delete_rejects_value: bool = False
    """IncrementalAlterConfigs: DELETE with a value is INVALID_REQUEST (42)."""
    brokers_check_configs_before_permission: bool = False
    """Brokers check what they can before the permission is checked."""
    denied_alter_configs_has_message: bool = False  # a denied alteration has an error message
    alter_broker_configs_checks_permission_first: bool = False
    """Permissions of brokers come before checks, without an error message."""
    alter_configs_echoes_unknown_types: bool = False  # AlterConfigs repeats unknown resource types
    broker_list_config_rejects_duplicates: bool = False
    """Duplicates in a list setting are an error (False: they are removed)."""
    alter_configs_null_value_effect: str = "fail resource"
    """AlterConfigs with a null value: "fail resource", "fail" the request, or "close"."""
    alter_configs_looks_for_null_values: bool = False
    """IncrementalAlterConfigs refuses null values before it looks at the changes one by one."""
    invalid_topic_config_value_error: int = 42
    """Error code of an invalid value of a topic's setting."""
    alter_configs_checks_topic_name: bool = True
    """An invalid topic name has another error than a missing topic."""
    alter_configs_checks_values_before_topic: bool = False
    """An invalid value is reported before a missing topic."""
    alter_configs_empty_topic_name_error: int = 17
    """Error code of AlterConfigs for an empty topic name."""
    alter_configs_checks_empty_name_first: bool = True
    """IncrementalAlterConfigs reports an empty topic name before all else."""
    alter_configs_missing_topic_error: int = -1  # error code of altering a missing topic
    zero_cleaner_threads_error: int = -1  # error code of log.cleaner.threads=0
    append_to_unset_list_starts_with_default: bool = False
    """APPEND to a list that is not set begins with its default."""
    append_skips_present_elements: bool = False
    """APPEND does not add elements that the list has already."""
    long_setting_value_error: int = 0
    """Error code of a value over 32,767 bytes, which only APPEND can make; 0: none."""
    long_setting_value_fails_validation: bool = False  # also where nothing is stored
    unexpected_alter_configs_error_has_message: bool = True
    """UNKNOWN_SERVER_ERROR (-1) of altering has a message."""
    append_to_unknown_broker_config_error: int = -1
    """Error code of APPEND to an unknown broker setting."""
    append_to_unknown_topic_config_is_not_list_error: bool = False
    """APPEND to an unknown topic setting fails like one to a setting that is no list."""


CHANGES: tuple[Change, ...] = (
    Change(
        "1.1",
        "KIP-226: dynamic brokers",
        broker_configs_can_be_altered=True,
        configs_wrongly_shown_as_alterable=(
            "log.retention.hours",
            "log.retention.minutes",
            "log.roll.hours",
            "log.roll.jitter.hours",
        ),
    ),
    Change(
        "2.0",
        "error responses echo known resource types only",
        config_errors_echo_resource_types=(2, 4),
    ),
    Change("2.0", "AlterConfigs cannot read null", alter_configs_null_value_effect="close"),
    Change(
        "2.0",
        "settings of a missing topic are an error",
        describe_configs_rejects_missing_topics=True,
    ),
    Change(
        "2.4",
        "KIP-412: levels of loggers",
        describable_config_resource_types=(2, 4, 8),
        config_errors_echo_resource_types=(2, 4, 8),
    ),
    Change(
        "2.4",
        "settings are no longer shown as dynamic for their synonyms",
        configs_wrongly_shown_as_alterable=(),
    ),
    Change(
        "2.6", "unexpected errors have no message", unexpected_alter_configs_error_has_message=False
    ),
    Change(
        "2.6",
        "AlterConfigs in generated messages",
        alter_configs_echoes_unknown_types=True,
        alter_configs_null_value_effect="fail",
        alter_configs_looks_for_null_values=True,
        append_to_unset_list_starts_with_default=True,
    ),
    Change(
        "2.7",
        "a missing topic is reported first",
        alter_configs_checks_topic_name=False,
        alter_configs_missing_topic_error=3,
    ),
    Change(
        "2.7",
        "DescribeConfigs in generated messages",
        describe_configs_uses_generated_messages=True,
        config_errors_echo_resource_types=None,
        describe_configs_ok_message="",
        describe_configs_denial_messages={
            29: "topic authorization failed",
            30: "group authorization failed",
            31: "cluster authorization failed",
        },
    ),
    Change(
        "2.8",
        "the settings of a broker that was altered are read without leaving out internal ones",
        altered_brokers_list_internal_configs=True,
    ),
    Change(
        "3.0",
        "KRaft controllers alter settings",
        brokers_check_configs_before_permission=True,
        denied_alter_configs_has_message=True,
        invalid_topic_config_value_error=40,
        zero_cleaner_threads_error=42,
        alter_configs_checks_topic_name=True,
        alter_configs_checks_values_before_topic=True,
        alter_configs_empty_topic_name_error=42,
        alter_configs_checks_empty_name_first=False,
        append_skips_present_elements=True,
        append_to_unknown_topic_config_is_not_list_error=True,
    ),
    Change(
        "3.0",
        "the first KRaft controllers",
        controller_alters_configs_unchecked=True,
        topic_configs_are_validated=False,
        config_delete_rejects_value=True,
    ),
    Change("3.0", "the metadata log has no longer strings", long_setting_value_error=-1),
    Change(
        "3.1",
        "controllers check settings of topics",
        topic_configs_are_validated=True,
        config_delete_rejects_value=False,
    ),
    Change(
        "3.2",
        "KAFKA-13552: brokers check what they can before controllers",
        controller_alters_configs_unchecked=False,
    ),
    Change("3.5", "internal settings stay hidden", altered_brokers_list_internal_configs=False),
    Change(
        "3.7", "KIP-714: subscriptions to metrics", describable_config_resource_types=(2, 4, 8, 16)
    ),
    Change(
        "4.0", "KIP-848: settings of groups", describable_config_resource_types=(2, 4, 8, 16, 32)
    ),
    Change(
        "4.0",
        "the length of values is checked",
        long_setting_value_error=40,
        long_setting_value_fails_validation=True,
    ),
    Change(
        "4.1",
        "metrics subscriptions are described with all settings",
        client_metrics_describe_default_configs=True,
        client_metrics_configs_have_documentation=True,
    ),
    Change(
        "4.2",
        "altering a broker, recorded on 4.2.2",
        alter_broker_configs_checks_permission_first=True,
    ),
    Change(
        "4.3",
        "altering a broker, recorded on 4.3.1",
        alter_broker_configs_checks_permission_first=False,
    ),
    Change(
        "4.3", "throttled rates are not shown as read-only", configs_wrongly_shown_as_read_only=()
    ),
    Change(
        "4.3",
        "APPEND checks that the setting exists",
        append_to_unknown_broker_config_error=40,
    ),
    Change(
        "4.4",
        "brokers check the permission before the controller does, recorded on 4.4.0",
        alter_broker_configs_checks_permission_first=True,
        broker_list_config_rejects_duplicates=True,
    ),
)
