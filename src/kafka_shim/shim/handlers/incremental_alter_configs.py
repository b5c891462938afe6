"""44 IncrementalAlterConfigs, versions 0-1. Set, delete, append, subtract (KIP-339, KIP-412).

On KRaft the broker validates a resource before the controller checks permissions, and alters its
own loggers itself; on ZooKeeper permissions are checked first. Each resource succeeds or fails on
its own.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

from kafka_shim.authorizer.acl_requests import ZOOKEEPER_DOTS
from kafka_shim.authorizer.requirement import Requirement
from kafka_shim.authorizer.requirements import (
    INCREMENTAL_ALTER_CONFIGS_CLUSTER,
    INCREMENTAL_ALTER_CONFIGS_GROUP,
    INCREMENTAL_ALTER_CONFIGS_TOPIC,
)
from kafka_shim.protocol.enums import ConfigResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common import config_change, early_kraft_configs
from kafka_shim.shim.handlers.common.config_resources import (
    OPERATIONS,
    ConfigOperation,
    ConfigResourceError,
    authorize_broker_early,
    check_not_duplicated,
    check_operation_codes,
    is_describable_type,
    parse_id_of_this_broker,
    require_config_access,
    unalterable_type_error,
)
from kafka_shim.shim.handlers.common.duplicates import last_row_per_key
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.java_collections import in_hash_map_order

REQUIREMENTS: Mapping[int, Requirement] = {
    ConfigResourceType.TOPIC: INCREMENTAL_ALTER_CONFIGS_TOPIC,
    ConfigResourceType.BROKER: INCREMENTAL_ALTER_CONFIGS_CLUSTER,
    ConfigResourceType.BROKER_LOGGER: INCREMENTAL_ALTER_CONFIGS_CLUSTER,
    ConfigResourceType.CLIENT_METRICS: INCREMENTAL_ALTER_CONFIGS_CLUSTER,
    ConfigResourceType.GROUP: INCREMENTAL_ALTER_CONFIGS_GROUP,
}
_ResourceRow = tuple[AlterConfigsResource, AlterConfigsResourceResponse]
CHANGES_OF_LISTS = frozenset({ConfigOperation.APPEND, ConfigOperation.SUBTRACT})
WITH_LISTS = frozenset({ConfigResourceType.TOPIC, ConfigResourceType.BROKER})
"""Whose lists can grow and shrink; the lists of others are set as a whole."""


def handle(
    request: IncrementalAlterConfigsRequest, context: RequestContext
) -> IncrementalAlterConfigsResponse:
    context.access.declare_no_further_checks()  # a malformed resource needs no check
    resources = request.resources
    if context.facts.configs.controller_alters_configs_unchecked:
        return _alter_as_kraft_3_0_controller(request, context)
    counts: Counter[tuple[int, str]] = Counter()
    if context.facts.configs.brokers_check_configs_before_permission:
        counts = Counter((resource.resource_type, resource.resource_name) for resource in resources)
    else:
        _check_resource_types_as_zookeeper(request, context)
        resources = last_row_per_key(
            resources, lambda resource: (resource.resource_type, resource.resource_name)
        )
    rows = [(resource, _success_response(resource)) for resource in resources]
    if not context.facts.configs.brokers_check_configs_before_permission:
        for resource, response in rows:
            with _capturing_error(response):
                _alter_resource_on_zookeeper(resource, context, validate_only=request.validate_only)
    else:
        forwarded: list[_ResourceRow] = []
        for resource, response in rows:
            with _capturing_error(response):
                check_not_duplicated(counts[resource.resource_type, resource.resource_name])
                if _process_at_broker(resource, context, validate_only=request.validate_only):
                    forwarded.append((resource, response))
        _alter_as_kraft_controller(forwarded, context, validate_only=request.validate_only)
    return IncrementalAlterConfigsResponse(responses=[response for _, response in rows])


def _alter_as_kraft_3_0_controller(
    request: IncrementalAlterConfigsRequest, context: RequestContext
) -> IncrementalAlterConfigsResponse:
    rows, allowed = early_kraft_configs.check_altered_resources(
        request.resources, REQUIREMENTS, context
    )
    for resource in allowed:
        try:
            check_operation_codes(resource.configs)
        except ConfigResourceError as failure:
            raise RequestRejected(failure.error) from None
    alter = partial(
        early_kraft_configs.apply_operations_as_kraft_3_0,
        context=context,
        validate_only=request.validate_only,
    )
    rows += early_kraft_configs.alter_each_resource(allowed, alter, context)
    responses = []
    for resource, error in rows:
        response = _success_response(resource)
        if error is not None:
            response.error_code, response.error_message = error.error, error.message
        responses.append(response)
    return IncrementalAlterConfigsResponse(responses=responses)


def _success_response(resource: AlterConfigsResource) -> AlterConfigsResourceResponse:
    return AlterConfigsResourceResponse(
        error_message=None,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
    )


@contextmanager
def _capturing_error(response: AlterConfigsResourceResponse) -> Iterator[None]:
    """Put a ConfigResourceError of the block into the resource's response."""
    try:
        yield
    except ConfigResourceError as failure:
        response.error_code, response.error_message = failure.error, failure.message


error_response = mirroring_error_builder(
    IncrementalAlterConfigsResponse, request_field_names={"responses": "resources"}
)


def _check_resource_types_as_zookeeper(
    request: IncrementalAlterConfigsRequest, context: RequestContext
) -> None:
    """Raise the error for an unknown resource type, which on ZooKeeper fails the whole request."""
    for resource in request.resources:
        if not is_describable_type(resource.resource_type, context):
            message = f"resource type {resource.resource_type} cannot be altered"
            raise RequestRejected(ErrorCode.INVALID_REQUEST, message)


def _alter_resource_on_zookeeper(
    resource: AlterConfigsResource, context: RequestContext, *, validate_only: bool
) -> None:
    """Alter one resource on ZooKeeper, whose changes are looked at one by one."""
    kind, name = resource.resource_type, resource.resource_name
    is_logger = kind == ConfigResourceType.BROKER_LOGGER
    require_config_access(context, REQUIREMENTS[kind], name, has_message=not is_logger)
    _check_operations(resource, context)
    if kind == ConfigResourceType.TOPIC and name in ZOOKEEPER_DOTS:
        raise ConfigResourceError(ErrorCode.INVALID_REQUEST, f"`{name}` is no ZooKeeper node")
    if is_logger:
        alter_broker_logger_levels(resource, context, validate_only=validate_only)
        return
    if kind == ConfigResourceType.BROKER:
        parse_id_of_this_broker(name, context, may_be_all=True)
    _apply_operations(resource, context, validate_only=validate_only)


def _process_at_broker(
    resource: AlterConfigsResource, context: RequestContext, *, validate_only: bool
) -> bool:
    """Check a resource like a KRaft broker, which alters loggers itself.

    Return whether the controller alters the resource. Raise ConfigResourceError if a check fails.
    """
    kind, name = resource.resource_type, resource.resource_name
    _check_operations(resource, context)
    if not is_describable_type(kind, context):
        raise unalterable_type_error(kind)
    if kind == ConfigResourceType.BROKER_LOGGER:
        require_config_access(context, REQUIREMENTS[kind], name, has_message=False)
        alter_broker_logger_levels(resource, context, validate_only=validate_only)
        return False
    if kind == ConfigResourceType.BROKER:
        authorize_broker_early(context, REQUIREMENTS[kind], name)
        check_operation_codes(resource.configs, ErrorCode.INVALID_REQUEST)
        new = _changed_settings(
            resource,
            config_change.settings_to_alter(kind, name, context),
            context,
        )
        config_change.check_broker_settings(name, new, context)
    return True


def _alter_as_kraft_controller(
    forwarded: Sequence[_ResourceRow],
    context: RequestContext,
    *,
    validate_only: bool,
) -> None:
    """Alter resources like the controller: all fail if it meets an unknown operation in one."""
    allowed: list[_ResourceRow] = []
    for resource, response in forwarded:
        with _capturing_error(response):
            require_config_access(
                context, REQUIREMENTS[resource.resource_type], resource.resource_name
            )
            allowed.append((resource, response))
    try:
        for resource, _ in allowed:
            _check_operation_codes(resource, context)
    except ConfigResourceError as failure:
        for _, response in forwarded:
            response.error_code, response.error_message = failure.error, failure.message
        return
    for resource, response in allowed:
        with _capturing_error(response):
            _apply_operations(resource, context, validate_only=validate_only)


def _check_operation_codes(resource: AlterConfigsResource, context: RequestContext) -> None:
    """Raise ConfigResourceError for an unknown operation, unless a setting before it is wrong.

    The controller takes the settings of a resource in the order of a HashMap, and leaves it at
    the first that should grow or shrink and is no list (seen on 4.4.0).
    """
    by_name = {config.name: config for config in resource.configs}
    for name in in_hash_map_order(by_name):
        operation = by_name[name].config_operation
        if operation in CHANGES_OF_LISTS and not _is_list_setting(
            resource.resource_type, name, context
        ):
            return
        check_operation_codes([by_name[name]])


def _is_list_setting(kind: int, name: str, context: RequestContext) -> bool:
    definition = context.cluster.configs.definitions_of_resource_type(kind).get(name)
    return definition is not None and definition.type == "list" and kind in WITH_LISTS


def _apply_operations(
    resource: AlterConfigsResource, context: RequestContext, *, validate_only: bool
) -> None:
    kind, name = resource.resource_type, resource.resource_name
    new = _changed_settings(
        resource,
        config_change.settings_to_alter(kind, name, context),
        context,
    )
    config_change.check_new_settings(kind, name, new, context)
    config_change.check_value_lengths(new, context, validate_only=validate_only)
    if kind == ConfigResourceType.BROKER:
        setting_names = [config.name for config in resource.configs]
        config_change.check_min_insync_scope(name, setting_names, context)
    if not validate_only:
        config_change.store_settings(kind, name, new, context)


def _check_operations(resource: AlterConfigsResource, context: RequestContext) -> None:
    nulls = [
        config.name
        for config in resource.configs
        if config.value is None and config.config_operation != ConfigOperation.DELETE
    ]
    if nulls and context.facts.configs.alter_configs_looks_for_null_values:
        message = f"settings need a value: {', '.join(nulls)}"
        raise ConfigResourceError(ErrorCode.INVALID_REQUEST, message)
    if len({config.name for config in resource.configs}) < len(resource.configs):
        raise ConfigResourceError(ErrorCode.INVALID_REQUEST, "duplicate setting")
    is_nameless = not resource.resource_name and resource.resource_type == ConfigResourceType.TOPIC
    if is_nameless and context.facts.configs.alter_configs_checks_empty_name_first:
        raise ConfigResourceError(ErrorCode.INVALID_REQUEST, "the topic has no name")


def _changed_settings(
    resource: AlterConfigsResource, settings: Mapping[str, str], context: RequestContext
) -> dict[str, str]:
    """Return the resource's own settings after the operations."""
    new = dict(settings)
    for config in resource.configs:
        match config.config_operation:
            case ConfigOperation.DELETE:
                new.pop(config.name, None)
            case ConfigOperation.SET:
                new[config.name] = _required_value(config)
            case ConfigOperation.APPEND | ConfigOperation.SUBTRACT:
                new[config.name] = _changed_list(resource.resource_type, config, settings, context)
            case _:
                raise _unknown_operation_on_zookeeper(context)
    return new


def _unknown_operation_on_zookeeper(context: RequestContext) -> ConfigResourceError:
    """Return the error of a change that KRaft refuses before it looks at the others."""
    has_message = context.facts.configs.unexpected_alter_configs_error_has_message
    return ConfigResourceError(ErrorCode.UNKNOWN_SERVER_ERROR, "null" if has_message else None)


def _required_value(config: AlterableConfig) -> str:
    """Return the value; up to 2.5 nobody looked before whether there is one."""
    if config.value is None:
        raise ConfigResourceError(ErrorCode.UNKNOWN_SERVER_ERROR, None)
    return config.value


def _changed_list(
    kind: int, config: AlterableConfig, settings: Mapping[str, str], context: RequestContext
) -> str:
    """Return a list with elements added or removed; an unset list starts as its default."""
    definitions = context.cluster.configs.definitions_of_resource_type(kind)
    definition = definitions.get(config.name)
    is_like_no_list = (
        kind != ConfigResourceType.BROKER
        and context.facts.configs.append_to_unknown_topic_config_is_not_list_error
    )
    if (definition is None or not definition.is_documented) and not is_like_no_list:
        error = ErrorCode(context.facts.configs.append_to_unknown_broker_config_error)
        raise config_change.alteration_error(error, f"unknown setting {config.name}", context)
    if definition is None or not _is_list_setting(kind, config.name, context):
        error = ErrorCode(context.facts.configs.invalid_topic_config_value_error)
        raise ConfigResourceError(error, f"{config.name} is not a list")
    start = settings.get(config.name)
    if start is None:
        if not context.facts.configs.append_to_unset_list_starts_with_default:
            raise ConfigResourceError(ErrorCode.UNKNOWN_SERVER_ERROR, f"{config.name} is not set")
        start = definition.default or ""
    parts, changed_parts = (_split_list_as_java(text) for text in (start, _required_value(config)))
    if config.config_operation == ConfigOperation.SUBTRACT:
        return ",".join(part for part in parts if part not in changed_parts)
    if context.facts.configs.append_skips_present_elements:
        parts = [part for part in parts if part]
        changed_parts = list(dict.fromkeys(part for part in changed_parts if part not in parts))
    return ",".join([*parts, *changed_parts])


def _split_list_as_java(text: str) -> list[str]:
    """Split as Java does: an empty text has an empty element, but empty ones at the end go."""
    parts = [part.strip() for part in text.split(",")]
    while text and parts and not parts[-1]:
        parts.pop()
    return parts


LEVELS = frozenset({"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"})


def alter_broker_logger_levels(
    resource: AlterConfigsResource, context: RequestContext, *, validate_only: bool
) -> None:
    """Set or reset levels of loggers. Raise ConfigResourceError for an invalid change."""
    node_id = parse_id_of_this_broker(resource.resource_name, context, may_be_all=False)
    assert node_id is not None
    levels = dict(context.cluster.configs.loggers.get(node_id, {}))
    for config in resource.configs:
        _check_logger_level_change(config, context)
        if config.config_operation == ConfigOperation.DELETE:
            levels.pop(config.name, None)
        else:
            levels[config.name] = config.value or ""
    if not validate_only:
        configs = context.cluster.configs
        before, configs.loggers[node_id] = configs.loggers.get(node_id, {}), levels
        context.cluster.report_settings(f"loggers of broker {node_id}", before, levels)


def _check_logger_level_change(config: AlterableConfig, context: RequestContext) -> None:
    is_zookeeper = not context.facts.configs.brokers_check_configs_before_permission
    if config.config_operation not in OPERATIONS and is_zookeeper:
        raise _unknown_operation_on_zookeeper(context)
    if config.config_operation not in (ConfigOperation.SET, ConfigOperation.DELETE):
        raise ConfigResourceError(ErrorCode.INVALID_REQUEST, "the level of a logger is not a list")
    if config.name not in context.cluster.configs.default_logger_levels:
        raise ConfigResourceError(ErrorCode.INVALID_CONFIG, f"unknown logger `{config.name}`")
    if config.config_operation == ConfigOperation.DELETE:
        if config.name == "root":
            raise ConfigResourceError(
                ErrorCode.INVALID_REQUEST, "the level of the root logger cannot be removed"
            )
    elif config.value not in LEVELS:
        message = f"`{config.value}` is no level: {', '.join(sorted(LEVELS))} are"
        raise ConfigResourceError(ErrorCode.INVALID_CONFIG, message)
