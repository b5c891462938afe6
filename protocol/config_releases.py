"""How Kafka releases differ about settings: the same chain of changes as in `releases.py`."""

from collections.abc import Mapping
from functools import cache

import msgspec

from protocol.releases import Change, fold


class ConfigBehaviour(msgspec.Struct, frozen=True, kw_only=True):
    """What the emulated release does about describing and altering settings, by name."""

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
    unknown_list_error: int  # code of APPEND to what is no setting of a broker


OLDEST = ConfigBehaviour(
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
    unknown_list_error=-1,
)
"""As 0.11 has it."""

CHANGES: tuple[Change, ...] = (
    Change("1.1", "KIP-226: dynamic brokers", dynamic_brokers=True),
    Change("2.0", "types of config resources", echoed_resource_types=(2, 4)),
    Change("2.0", "AlterConfigs cannot read null", altered_null="close"),
    Change("2.0", "settings of missing topics", missing_topics_have_no_configs=True),
    Change(
        "2.4",
        "KIP-412: levels of loggers",
        config_resource_types=(2, 4, 8),
        echoed_resource_types=(2, 4, 8),
    ),
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
        altered_config_error=40,
        altered_names_are_checked=True,
    ),
    Change("3.7", "KIP-714: subscriptions to metrics", config_resource_types=(2, 4, 8, 16)),
    Change("4.0", "KIP-848: settings of groups", config_resource_types=(2, 4, 8, 16, 32)),
    Change("4.1", "subscriptions with all settings", client_metrics_have_defaults=True),
    Change("4.3", "APPEND looks whether there is such a setting", unknown_list_error=40),
)


@cache
def config_behaviour_of(release: str) -> ConfigBehaviour:
    """The behaviour of a release such as `2.8` or `4.3.1`; ValueError lists the known ones."""
    return fold(OLDEST, CHANGES, release)
