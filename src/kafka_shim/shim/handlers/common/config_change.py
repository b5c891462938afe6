"""Checking and storing altered settings, for AlterConfigs and IncrementalAlterConfigs.

A resource's new settings are checked as a whole, after the caller's rights and before anything is
stored.
"""

import re
from collections.abc import Iterable, Mapping

from kafka_shim.protocol.enums import ConfigResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.handlers.common.broker_config_checks import check_running_broker_settings
from kafka_shim.shim.handlers.common.config_resources import (
    ConfigResourceError,
    parse_id_of_this_broker,
)
from kafka_shim.shim.handlers.common.topic_plan import incompatible_settings_error
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.settings.config_definitions import ConfigDefinition
from kafka_shim.shim.state.settings.config_values import (
    ConfigValueError,
    list_elements,
    validated_canonical_value,
)
from kafka_shim.shim.state.settings.configs import Configs, listener_setting
from kafka_shim.shim.state.settings.metrics_patterns import parse_match_patterns
from kafka_shim.shim.state.share_partitions.dead_letters import QUEUE as DEAD_LETTER_QUEUE
from kafka_shim.shim.state.topics import name_error

UTF8_BYTES_MAX = 4
VALUE_BYTES_MAX = 32_767
INTERVAL_MS_MIN = 100
INTERVAL_MS_MAX = 3_600_000

_PER_BROKER_SETTING = re.compile(
    r"(ssl|sasl)\..*|(advertised\.)?listeners|listener\.security\.protocol\.map"
    r"|principal\.builder\.class|cordoned\.log\.dirs|listener\.name\..*"
)
_PLUGIN_SETTINGS = frozenset({"alter.config.policy.kraft.compatibility.enable"})
"""Settings that brokers take like those that they do not know, though they are listed."""

MIN_INSYNC_REPLICAS = "min.insync.replicas"


def settings_to_alter(resource_type: int, name: str, context: RequestContext) -> dict[str, str]:
    """Return the settings that were set on the resource.

    Names of resources other than brokers are checked later, by `check_new_settings`, after the
    operations. Raise ConfigResourceError if such a resource cannot exist.
    """
    configs = context.cluster.configs
    match resource_type:
        case ConfigResourceType.TOPIC:
            topic = context.cluster.topics.get(name)
            return {} if topic is None else dict(topic.configs)
        case ConfigResourceType.BROKER if not context.facts.configs.broker_configs_can_be_altered:
            raise ConfigResourceError(
                ErrorCode.INVALID_REQUEST, "settings of brokers cannot be altered"
            )
        case ConfigResourceType.BROKER:
            node_id = parse_id_of_this_broker(name, context, may_be_all=True)
            settings = configs.all_brokers if node_id is None else configs.brokers.get(node_id, {})
            return dict(settings)
        case ConfigResourceType.GROUP:
            return dict(configs.groups.get(name, {}))
        case _:
            return dict(configs.client_metrics.get(name, {}))


def alteration_error(
    error: ErrorCode, message: str, context: RequestContext
) -> ConfigResourceError:
    """Return the error of a failed alteration; unexpected ones may have no message."""
    is_expected = error is not ErrorCode.UNKNOWN_SERVER_ERROR
    has_message = is_expected or context.facts.configs.unexpected_alter_configs_error_has_message
    return ConfigResourceError(error, message if has_message else None)


def check_new_settings(
    resource_type: int, name: str, new: Mapping[str, str], context: RequestContext
) -> None:
    """Raise ConfigResourceError unless the resource can have these settings."""
    match resource_type:
        case ConfigResourceType.TOPIC:
            _check_altered_topic_name(name, context)
            if not context.facts.configs.alter_configs_checks_values_before_topic:
                _check_topic_exists(name, context)
            check_topic_settings(new, context)
            _check_topic_exists(name, context)
        case ConfigResourceType.BROKER:
            check_broker_settings(name, new, context)
            _check_min_insync_kept(name, new, context)
            check_min_insync_scope(name, new, context)
        case ConfigResourceType.GROUP:
            _check_name_not_empty(name, "group")
            definitions = context.cluster.configs.group_definitions
            _check_settings_known(new, definitions, ErrorCode.INVALID_CONFIG)
            _check_setting_values(new, definitions, ErrorCode.INVALID_CONFIG)
            _check_list_elements_distinct(new, definitions, ErrorCode.INVALID_CONFIG)
            check_group_settings(new, context.cluster.configs)
        case _:
            _check_name_not_empty(name, "subscription")
            check_metrics_subscription(new, context.cluster)


def check_value_lengths(
    new: Mapping[str, str], context: RequestContext, *, validate_only: bool
) -> None:
    """Raise ConfigResourceError if a value is too long for the release."""
    facts = context.facts.configs
    if not facts.long_setting_value_error or (
        validate_only and not facts.long_setting_value_fails_validation
    ):
        return
    if sum(map(len, new.values())) * UTF8_BYTES_MAX <= VALUE_BYTES_MAX:
        return
    for name, value in new.items():
        if len(value.encode()) > VALUE_BYTES_MAX:
            raise ConfigResourceError(
                ErrorCode(facts.long_setting_value_error),
                f"the value of {name} is longer than {VALUE_BYTES_MAX} bytes",
            )


def check_topic_settings(new: Mapping[str, str], context: RequestContext) -> None:
    """Raise ConfigResourceError unless a topic can have these settings."""
    definitions = context.cluster.configs.topic_definitions
    _check_settings_known(new, definitions, ErrorCode.INVALID_CONFIG)
    bad_value = ErrorCode(context.facts.configs.invalid_topic_config_value_error)
    _check_setting_values(new, definitions, bad_value)
    if (text := incompatible_settings_error(new, context.cluster)) is not None:
        raise ConfigResourceError(bad_value, text)


def store_settings(
    resource_type: int, name: str, new: Mapping[str, str], context: RequestContext
) -> None:
    """Replace all settings of the resource."""
    configs = context.cluster.configs
    match resource_type:
        case ConfigResourceType.TOPIC:
            topic = context.cluster.topics.get(name)
            assert topic is not None
            context.cluster.topics.replace_configs(topic, new)
        case ConfigResourceType.BROKER if not name:
            before, configs.all_brokers = configs.all_brokers, dict(new)
            configs.all_brokers_were_altered = True
            context.cluster.report_settings("all brokers", before, new)
        case ConfigResourceType.BROKER:
            before, configs.brokers[int(name)] = configs.brokers.get(int(name), {}), dict(new)
            context.cluster.report_settings(f"broker {name}", before, new)
            context.cluster.load_listener_stores(int(name))
        case ConfigResourceType.GROUP:
            before = configs.groups.get(name, {})
            configs.store_group_settings(name, new)
            context.cluster.report_settings(f"group {name}", before, new)
        case _:
            before = configs.client_metrics.get(name, {})
            configs.store_client_metrics_settings(name, new)
            context.cluster.report_settings(f"client metrics {name}", before, new)


def check_broker_settings(name: str, new: Mapping[str, str], context: RequestContext) -> None:
    """Raise ConfigResourceError for settings that a running broker rejects.

    Unknown names are accepted, since they may belong to plugins.
    """
    definitions = context.cluster.configs.broker_definitions
    known = {
        key: definitions[key] for key in new if key in definitions and key not in _PLUGIN_SETTINGS
    }
    fixed = [key for key, definition in known.items() if not definition.dynamic]
    if fixed:
        message = f"settings that cannot change while the broker runs: {', '.join(fixed)}"
        raise ConfigResourceError(ErrorCode.INVALID_REQUEST, message)
    single = [key for key in new if _PER_BROKER_SETTING.fullmatch(key)]
    if not name and single:
        message = f"settings that cannot be the same for all brokers: {', '.join(single)}"
        raise ConfigResourceError(ErrorCode.INVALID_REQUEST, message)
    _check_setting_values({key: new[key] for key in known}, definitions, ErrorCode.INVALID_REQUEST)
    _check_setting_values(
        _dynamic_listener_settings(new, definitions), definitions, ErrorCode.INVALID_REQUEST
    )
    if context.facts.configs.broker_list_config_rejects_duplicates:
        _check_list_elements_distinct(
            {key: new[key] for key in known}, definitions, ErrorCode.INVALID_REQUEST
        )
    check_running_broker_settings({key: new[key] for key in known}, context)
    if name:
        try:
            context.cluster.check_listener_stores(int(name), new)
        except ConfigError as error:
            raise ConfigResourceError(ErrorCode.INVALID_REQUEST, str(error)) from error


def _dynamic_listener_settings(
    new: Mapping[str, str], definitions: Mapping[str, ConfigDefinition]
) -> dict[str, str]:
    """Return the settings of listeners, without prefix, that a running broker can change."""
    without_prefix = {listener_setting(key) or "": value for key, value in new.items()}
    return {
        key: value
        for key, value in without_prefix.items()
        if key in definitions and definitions[key].dynamic
    }


def _check_altered_topic_name(name: str, context: RequestContext) -> None:
    message = name_error(name)
    if message is not None and context.facts.configs.alter_configs_checks_topic_name:
        error = (
            int(ErrorCode.INVALID_TOPIC_EXCEPTION)
            if name
            else context.facts.configs.alter_configs_empty_topic_name_error
        )
        raise ConfigResourceError(ErrorCode(error), message)


def _check_topic_exists(name: str, context: RequestContext) -> None:
    topics = context.cluster.topics
    error = ErrorCode(context.facts.configs.alter_configs_missing_topic_error)
    is_known = name in topics
    if error is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:  # else it is ZooKeeper that is asked
        is_known = topics.led_topic(name) is not None
    if not is_known:
        raise alteration_error(error, f"unknown topic `{name}`", context)


def _check_name_not_empty(name: str, kind: str) -> None:
    if not name:
        raise ConfigResourceError(ErrorCode.INVALID_REQUEST, f"the {kind} has no name")


def _check_settings_known(
    names: Iterable[str], definitions: Mapping[str, ConfigDefinition], error: ErrorCode
) -> None:
    unknown = [name for name in names if name not in definitions]
    if unknown:
        raise ConfigResourceError(error, f"unknown settings: {', '.join(unknown)}")


def _check_setting_values(
    new: Mapping[str, str], definitions: Mapping[str, ConfigDefinition], error: ErrorCode
) -> None:
    for key, value in new.items():
        try:
            validated_canonical_value(key, definitions[key], value)
        except ConfigValueError as failure:
            has_message = error is not ErrorCode.UNKNOWN_SERVER_ERROR
            raise ConfigResourceError(error, str(failure) if has_message else None) from None


def _check_list_elements_distinct(
    new: Mapping[str, str], definitions: Mapping[str, ConfigDefinition], error: ErrorCode
) -> None:
    """Reject duplicates in lists of brokers and groups; elsewhere they count once."""
    for key, value in new.items():
        parts = list_elements(value)
        if definitions[key].check.is_list_of_distinct and len(set(parts)) < len(parts):
            raise ConfigResourceError(error, f"`{value}` for {key}: duplicate element")


def check_min_insync_scope(name: str, altered: Iterable[str], context: RequestContext) -> None:
    """Check that min.insync.replicas is set for the cluster only, with eligible leader replicas
    (KIP-966).
    """
    if name and MIN_INSYNC_REPLICAS in altered and context.cluster.has_eligible_leader_replicas:
        text = f"{MIN_INSYNC_REPLICAS} cannot be altered on single brokers"
        raise ConfigResourceError(ErrorCode.INVALID_CONFIG, text)


def _check_min_insync_kept(name: str, new: Mapping[str, str], context: RequestContext) -> None:
    is_removed = (
        MIN_INSYNC_REPLICAS in context.cluster.configs.all_brokers
        and MIN_INSYNC_REPLICAS not in new
    )
    if not name and is_removed and context.cluster.has_eligible_leader_replicas:
        text = f"{MIN_INSYNC_REPLICAS} cannot be removed from all brokers"
        raise ConfigResourceError(ErrorCode.INVALID_CONFIG, text)


def check_metrics_subscription(new: Mapping[str, str], cluster: Cluster) -> None:
    """Raise ConfigResourceError for an invalid subscription of client metrics (KIP-714)."""
    definitions = cluster.configs.client_metrics_definitions
    _check_settings_known(new, definitions, ErrorCode.INVALID_REQUEST)
    _check_setting_values(new, definitions, cluster.facts.telemetry.invalid_metrics_interval_error)
    interval_ms = new.get("interval.ms")
    has_blanks = interval_ms is not None and interval_ms != interval_ms.strip()
    if has_blanks and not cluster.facts.telemetry.metrics_interval_ignores_spaces:
        raise ConfigResourceError(cluster.facts.telemetry.invalid_metrics_interval_error, None)
    if interval_ms is not None and not INTERVAL_MS_MIN <= int(interval_ms) <= INTERVAL_MS_MAX:
        message = f"interval.ms of {interval_ms}: expected {INTERVAL_MS_MIN} to {INTERVAL_MS_MAX}"
        raise ConfigResourceError(ErrorCode.INVALID_REQUEST, message)
    try:
        if "match" in new:
            parse_match_patterns(new["match"], cluster.facts.telemetry)
    except ValueError as error:
        raise ConfigResourceError(ErrorCode.INVALID_CONFIG, str(error)) from error


BOUNDED_GROUP_TYPES = ("consumer", "share", "streams")
STREAMS_ASSIGNOR = "streams.assignor.name"
_BOUNDED_AS = {"num.standby.replicas": "standby.replicas", "num.warmup.replicas": "warmup.replicas"}


def check_group_settings(new: Mapping[str, str], configs: Configs) -> None:
    """Check the broker's bounds, session timeouts, the dead letter queue's name, and the assignor.

    Raise ConfigResourceError for the first that is wrong.
    """
    for text in (*_group_limit_errors(new, configs), *_session_timeout_errors(new, configs)):
        raise ConfigResourceError(ErrorCode.INVALID_CONFIG, text)
    if new.get(DEAD_LETTER_QUEUE, "").startswith("__"):
        raise ConfigResourceError(
            ErrorCode.INVALID_CONFIG, f"{DEAD_LETTER_QUEUE} must not begin with `__`"
        )
    assignors = list_elements(configs.effective_broker_value("group.streams.assignors") or "")
    has_classes = any("." in name for name in assignors)  # whose names are unknown
    if STREAMS_ASSIGNOR in new and new[STREAMS_ASSIGNOR] not in assignors and not has_classes:
        names = ", ".join(assignors)
        text = f"`{new[STREAMS_ASSIGNOR]}` for {STREAMS_ASSIGNOR}: expected one of {names}"
        raise ConfigResourceError(ErrorCode.INVALID_CONFIG, text)


def _group_limit_errors(new: Mapping[str, str], configs: Configs) -> Iterable[str]:
    """Check the broker's bounds for a setting: `group.<kind>.min.<setting>` and `max`."""
    for key, value in new.items():
        kind, _, setting = key.partition(".")
        bounded = _BOUNDED_AS.get(setting, setting)
        for bound, is_outside in (("min", int.__lt__), ("max", int.__gt__)):
            name = f"group.{kind}.{bound}.{bounded}"
            limit = configs.effective_broker_value(name) if kind in BOUNDED_GROUP_TYPES else None
            if limit is not None and is_outside(int(value), int(limit)):
                yield f"{key} of {value} is beyond {name}, {limit}"


def _session_timeout_errors(new: Mapping[str, str], configs: Configs) -> Iterable[str]:
    for kind in BOUNDED_GROUP_TYPES:
        names = (f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms")
        if any(name in new for name in names):
            session, interval = (
                new.get(n) or configs.effective_broker_value(f"group.{n}") for n in names
            )
            if session and interval and int(session) <= int(interval):
                yield f"{names[0]} of {session} must be more than {names[1]}, {interval}"
