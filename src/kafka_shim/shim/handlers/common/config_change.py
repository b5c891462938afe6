"""Checking and storing altered settings, for AlterConfigs and IncrementalAlterConfigs.

A resource's new settings are checked as a whole, after the caller's rights and before anything is
stored.
"""

import re
from collections.abc import Iterable, Mapping

from kafka_shim.protocol.enums import ConfigResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.handlers.common.broker_config_checks import check_running
from kafka_shim.shim.handlers.common.config_resources import ResourceError, broker_of
from kafka_shim.shim.handlers.common.group_config_checks import check_group_settings
from kafka_shim.shim.handlers.common.topic_plan import unfit_settings
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.settings.config_definitions import Definition
from kafka_shim.shim.state.settings.config_values import ConfigValueError, canonical, elements
from kafka_shim.shim.state.settings.metrics_patterns import patterns_of
from kafka_shim.shim.state.topic_names import name_error

INTERVAL_MS_MIN = 100
INTERVAL_MS_MAX = 3_600_000

_PER_BROKER = re.compile(
    r"(ssl|sasl)\..*|(advertised\.)?listeners|listener\.security\.protocol\.map"
    r"|principal\.builder\.class|cordoned\.log\.dirs|listener\.name\..*"
)
_FOR_PLUGINS = frozenset({"alter.config.policy.kraft.compatibility.enable"})
"""Settings that brokers take like those that they do not know, though they are listed."""

MIN_INSYNC = "min.insync.replicas"


def current(resource_type: int, name: str, context: RequestContext) -> dict[str, str]:
    """Return the settings of the resource itself; ResourceError if such a resource cannot exist.

    Names of resources other than brokers are checked later by `check`, after the operations.
    """
    configs = context.cluster.configs
    match resource_type:
        case ConfigResourceType.TOPIC:
            topic = context.cluster.topics.get(name)
            return {} if topic is None else dict(topic.configs)
        case ConfigResourceType.BROKER if not context.facts.configs.broker_configs_can_be_altered:
            raise ResourceError(ErrorCode.INVALID_REQUEST, "settings of brokers cannot be altered")
        case ConfigResourceType.BROKER:
            node_id = broker_of(name, context, may_be_all=True)
            held = configs.all_brokers if node_id is None else configs.brokers.get(node_id, {})
            return dict(held)
        case ConfigResourceType.GROUP:
            return dict(configs.groups.get(name, {}))
        case _:
            return dict(configs.client_metrics.get(name, {}))


def failed(error: ErrorCode, message: str, context: RequestContext) -> ResourceError:
    """Return the error of a failed alteration; unexpected ones may have no message."""
    is_expected = error is not ErrorCode.UNKNOWN_SERVER_ERROR
    is_said = is_expected or context.facts.configs.unexpected_alter_configs_error_has_message
    return ResourceError(error, message if is_said else None)


def check(resource_type: int, name: str, new: Mapping[str, str], context: RequestContext) -> None:
    """Raise ResourceError unless the resource can have these settings."""
    match resource_type:
        case ConfigResourceType.TOPIC:
            _check_topic_name(name, context)
            if not context.facts.configs.alter_configs_checks_values_before_topic:
                _check_exists(name, context)
            check_topic_settings(new, context)
            _check_exists(name, context)
        case ConfigResourceType.BROKER:
            check_broker(name, new, context)
            _check_kept_by_all(name, new, context)
            check_eligible_replicas(name, new, context)
        case ConfigResourceType.GROUP:
            _check_named(name, "group")
            definitions = context.cluster.configs.group_definitions
            _check_known(context.time_sliced(new), definitions, ErrorCode.INVALID_CONFIG)
            _check_values(new, definitions, ErrorCode.INVALID_CONFIG)
            _check_distinct(new, definitions, ErrorCode.INVALID_CONFIG)
            check_group_settings(new, context.cluster.configs)
        case _:
            _check_named(name, "subscription")
            check_subscription(new, context.cluster)


def check_topic_settings(new: Mapping[str, str], context: RequestContext) -> None:
    """Raise ResourceError unless a topic can have these settings."""
    definitions = context.cluster.configs.topic_definitions
    _check_known(context.time_sliced(new), definitions, ErrorCode.INVALID_CONFIG)
    bad_value = ErrorCode(context.facts.configs.invalid_topic_config_value_error)
    _check_values(new, definitions, bad_value)
    if (text := unfit_settings(new, context.cluster)) is not None:
        raise ResourceError(bad_value, text)


def store(resource_type: int, name: str, new: Mapping[str, str], context: RequestContext) -> None:
    """Put the resource's settings in place of those it had."""
    configs = context.cluster.configs
    match resource_type:
        case ConfigResourceType.TOPIC:
            topic = context.cluster.topics.get(name)
            assert topic is not None
            context.cluster.topics.configure(topic, new)
        case ConfigResourceType.BROKER if not name:
            configs.all_brokers = dict(new)
        case ConfigResourceType.BROKER:
            configs.brokers[int(name)] = dict(new)
        case ConfigResourceType.GROUP:
            _put(configs.groups, name, new)
        case _:
            _put(configs.client_metrics, name, new)


def check_broker(name: str, new: Mapping[str, str], context: RequestContext) -> None:
    """Raise ResourceError for settings that a running broker rejects; unknown names are accepted,
    since they may belong to plugins.
    """
    definitions = context.cluster.configs.broker_definitions
    known = {
        key: definitions[key]
        for key in context.time_sliced(new)
        if key in definitions and key not in _FOR_PLUGINS
    }
    fixed = [key for key, definition in known.items() if not definition.dynamic]
    if fixed:
        message = f"settings that cannot change while the broker runs: {', '.join(fixed)}"
        raise ResourceError(ErrorCode.INVALID_REQUEST, message)
    single = [key for key in new if _PER_BROKER.fullmatch(key)]
    if not name and single:
        message = f"settings that cannot be the same for all brokers: {', '.join(single)}"
        raise ResourceError(ErrorCode.INVALID_REQUEST, message)
    _check_values({key: new[key] for key in known}, definitions, ErrorCode.INVALID_REQUEST)
    if context.facts.configs.broker_list_config_rejects_duplicates:
        _check_distinct({key: new[key] for key in known}, definitions, ErrorCode.INVALID_REQUEST)
    check_running({key: new[key] for key in known}, context)


def _check_topic_name(name: str, context: RequestContext) -> None:
    message = name_error(name)
    if message is not None and context.facts.configs.alter_configs_checks_topic_name:
        error = (
            int(ErrorCode.INVALID_TOPIC_EXCEPTION)
            if name
            else context.facts.configs.alter_configs_empty_topic_name_error
        )
        raise ResourceError(ErrorCode(error), message)


def _check_exists(name: str, context: RequestContext) -> None:
    topics = context.cluster.topics
    error = ErrorCode(context.facts.configs.alter_configs_missing_topic_error)
    is_known = name in topics
    if error is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:  # else it is ZooKeeper that is asked
        is_known = topics.known(name) is not None
    if not is_known:
        raise failed(error, f"unknown topic `{name}`", context)


def _check_named(name: str, kind: str) -> None:
    if not name:
        raise ResourceError(ErrorCode.INVALID_REQUEST, f"the {kind} has no name")


def _check_known(
    names: Iterable[str], definitions: Mapping[str, Definition], error: ErrorCode
) -> None:
    unknown = [name for name in names if name not in definitions]
    if unknown:
        raise ResourceError(error, f"unknown settings: {', '.join(unknown)}")


def _check_values(
    new: Mapping[str, str], definitions: Mapping[str, Definition], error: ErrorCode
) -> None:
    for key, value in new.items():
        try:
            canonical(key, definitions[key], value)
        except ConfigValueError as failure:
            is_told = error is not ErrorCode.UNKNOWN_SERVER_ERROR
            raise ResourceError(error, str(failure) if is_told else None) from None


def _check_distinct(
    new: Mapping[str, str], definitions: Mapping[str, Definition], error: ErrorCode
) -> None:
    """Reject duplicates in lists of brokers and groups; elsewhere they count once."""
    for key, value in new.items():
        parts = elements(value)
        if definitions[key].check.distinct and len(set(parts)) < len(parts):
            raise ResourceError(error, f"`{value}` for {key}: duplicate element")


def check_eligible_replicas(name: str, altered: Iterable[str], context: RequestContext) -> None:
    """Check that min.insync.replicas is set for the cluster only, with eligible leader replicas
    (KIP-966).
    """
    if name and MIN_INSYNC in altered and context.cluster.has_eligible_replicas:
        text = f"{MIN_INSYNC} cannot be altered on single brokers"
        raise ResourceError(ErrorCode.INVALID_CONFIG, text)


def _check_kept_by_all(name: str, new: Mapping[str, str], context: RequestContext) -> None:
    is_removed = MIN_INSYNC in context.cluster.configs.all_brokers and MIN_INSYNC not in new
    if not name and is_removed and context.cluster.has_eligible_replicas:
        text = f"{MIN_INSYNC} cannot be removed from all brokers"
        raise ResourceError(ErrorCode.INVALID_CONFIG, text)


def check_subscription(new: Mapping[str, str], cluster: Cluster) -> None:
    """Raise ResourceError for an invalid subscription of client metrics (KIP-714)."""
    definitions = cluster.configs.client_metrics_definitions
    _check_known(new, definitions, ErrorCode.INVALID_REQUEST)
    _check_values(new, definitions, cluster.facts.telemetry.invalid_metrics_interval_error)
    interval_ms = new.get("interval.ms")
    has_blanks = interval_ms is not None and interval_ms != interval_ms.strip()
    if has_blanks and not cluster.facts.telemetry.metrics_interval_ignores_spaces:
        raise ResourceError(cluster.facts.telemetry.invalid_metrics_interval_error, None)
    if interval_ms is not None and not INTERVAL_MS_MIN <= int(interval_ms) <= INTERVAL_MS_MAX:
        message = f"interval.ms of {interval_ms}: expected {INTERVAL_MS_MIN} to {INTERVAL_MS_MAX}"
        raise ResourceError(ErrorCode.INVALID_REQUEST, message)
    try:
        if "match" in new:
            patterns_of(new["match"], cluster.facts.telemetry)
    except ValueError as error:
        raise ResourceError(ErrorCode.INVALID_CONFIG, str(error)) from error


def _put(held: dict[str, dict[str, str]], name: str, new: Mapping[str, str]) -> None:
    """Store settings; a resource without settings is removed."""
    if new:
        held[name] = dict(new)
    else:
        held.pop(name, None)
