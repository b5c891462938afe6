"""44 IncrementalAlterConfigs, versions 0-1. Set, delete, append, subtract (KIP-339, KIP-412).

On KRaft the broker looks over a resource before the controller asks for rights, and alters its own
loggers itself; on ZooKeeper rights come first. One denied resource does not disturb the others.
"""

from collections import Counter
from collections.abc import Mapping
from enum import IntEnum

from authorizer.requirement import Requirement
from authorizer.requirements import (
    INCREMENTAL_ALTER_CONFIGS_CLUSTER,
    INCREMENTAL_ALTER_CONFIGS_GROUP,
    INCREMENTAL_ALTER_CONFIGS_TOPIC,
)
from protocol.enums import ConfigResourceType
from protocol.error_codes import ErrorCode
from protocol.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from protocol.messages.incremental_alter_configs_response import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from shim.context import RequestContext
from shim.errors import Refused
from shim.handling import config_change
from shim.handling.config_access import require_config
from shim.handling.config_resources import ResourceFault, broker_of, is_known_type
from shim.state.config_values import elements
from shim.state.configs import LOGGERS

REQUIREMENTS: Mapping[int, Requirement] = {
    ConfigResourceType.TOPIC: INCREMENTAL_ALTER_CONFIGS_TOPIC,
    ConfigResourceType.BROKER: INCREMENTAL_ALTER_CONFIGS_CLUSTER,
    ConfigResourceType.BROKER_LOGGER: INCREMENTAL_ALTER_CONFIGS_CLUSTER,
    ConfigResourceType.CLIENT_METRICS: INCREMENTAL_ALTER_CONFIGS_CLUSTER,
    ConfigResourceType.GROUP: INCREMENTAL_ALTER_CONFIGS_GROUP,
}
WITH_LISTS = frozenset({ConfigResourceType.TOPIC, ConfigResourceType.BROKER})
"""Whose lists can grow and shrink; the lists of others are set as a whole."""

LEVELS = frozenset({"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"})


class Operation(IntEnum):
    """What happens to one setting."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


def handle(
    request: IncrementalAlterConfigsRequest, context: RequestContext
) -> IncrementalAlterConfigsResponse:
    context.access.nothing_more()  # a malformed resource is answered without asking
    resources = request.resources
    counts: Counter[tuple[int, str]] = Counter()
    if context.behaviour.kraft:
        counts = Counter((one.resource_type, one.resource_name) for one in resources)
    else:
        _check_types(request, context)
        resources = list(
            {(one.resource_type, one.resource_name): one for one in resources}.values()
        )
    responses = []
    for one in resources:
        response = AlterConfigsResourceResponse(
            error_message=None, resource_type=one.resource_type, resource_name=one.resource_name
        )
        responses.append(response)
        try:
            _check_single(counts[one.resource_type, one.resource_name])
            _alter(one, context, validate_only=request.validate_only)
        except ResourceFault as fault:
            response.error_code, response.error_message = fault.error, fault.message
    return IncrementalAlterConfigsResponse(responses=responses)


def refuse(
    request: IncrementalAlterConfigsRequest, error: ErrorCode, message: str | None
) -> IncrementalAlterConfigsResponse:
    return IncrementalAlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(
                error_code=error,
                error_message=message,
                resource_type=one.resource_type,
                resource_name=one.resource_name,
            )
            for one in request.resources
        ]
    )


def _check_types(request: IncrementalAlterConfigsRequest, context: RequestContext) -> None:
    """On ZooKeeper one resource of an unknown type fails the whole request."""
    for one in request.resources:
        if not is_known_type(one.resource_type, context):
            message = f"resource type {one.resource_type} cannot be altered"
            raise Refused(ErrorCode.INVALID_REQUEST, message)


def _check_single(count: int) -> None:
    if count > 1:
        raise ResourceFault(ErrorCode.INVALID_REQUEST, "the resource is given twice")


def _alter(one: AlterConfigsResource, context: RequestContext, *, validate_only: bool) -> None:
    kind, name = one.resource_type, one.resource_name
    if kind == ConfigResourceType.BROKER_LOGGER and is_known_type(kind, context):
        require_config(context, REQUIREMENTS[kind], name, is_said=False)
        _alter_loggers(one, context, validate_only=validate_only)
        return
    if context.behaviour.kraft:
        _check_form(one, context)
        if not is_known_type(kind, context):
            message = f"resource type {kind} cannot be altered"
            raise ResourceFault(ErrorCode.INVALID_REQUEST, message)
        if kind == ConfigResourceType.BROKER:
            new = _applied(one, config_change.current(kind, name, context), context)
            config_change.check_broker(name, new, context)
    require_config(context, REQUIREMENTS[kind], name)
    if not context.behaviour.kraft:
        _check_form(one, context)
        _check_operations(one)
    new = _applied(one, config_change.current(kind, name, context), context)
    config_change.check(kind, name, new, context)
    if not validate_only:
        config_change.store(kind, name, new, context)


def _check_form(one: AlterConfigsResource, context: RequestContext) -> None:
    nulls = [
        config.name
        for config in one.configs
        if config.value is None and config.config_operation != Operation.DELETE
    ]
    if nulls:
        error = ErrorCode(context.behaviour.altered_null_error)
        is_said = error is not ErrorCode.UNKNOWN_SERVER_ERROR
        message = f"settings need a value: {', '.join(nulls)}" if is_said else None
        raise ResourceFault(error, message)
    if len({config.name for config in one.configs}) < len(one.configs):
        raise ResourceFault(ErrorCode.INVALID_REQUEST, "a setting is given twice")
    if not one.resource_name and one.resource_type == ConfigResourceType.TOPIC:
        is_early = not context.behaviour.kraft
        if is_early:
            raise ResourceFault(ErrorCode.INVALID_REQUEST, "the topic has no name")


def _check_operations(one: AlterConfigsResource) -> None:
    if any(config.config_operation not in list(Operation) for config in one.configs):
        raise ResourceFault(ErrorCode.UNKNOWN_SERVER_ERROR, None)


def _applied(
    one: AlterConfigsResource, held: Mapping[str, str], context: RequestContext
) -> dict[str, str]:
    """The resource's own settings after the operations."""
    new = dict(held)
    for config in one.configs:
        match config.config_operation:
            case Operation.SET:
                assert config.value is not None
                new[config.name] = config.value
            case Operation.DELETE:
                new.pop(config.name, None)
            case Operation.APPEND | Operation.SUBTRACT:
                new[config.name] = _extended(one.resource_type, config, held, context)
            case _:
                raise ResourceFault(ErrorCode.UNKNOWN_SERVER_ERROR, None)
    return new


def _extended(
    kind: int, config: AlterableConfig, held: Mapping[str, str], context: RequestContext
) -> str:
    """A list with some elements more or less; one that is not set starts as its default."""
    definitions = context.cluster.configs.definitions_of(kind)
    definition = definitions.get(config.name)
    if definition is None and (kind == ConfigResourceType.BROKER or not context.behaviour.kraft):
        is_said = not context.behaviour.lists_start_as_default
        text = f"{config.name} is no setting" if is_said else None
        raise ResourceFault(ErrorCode.UNKNOWN_SERVER_ERROR, text)
    if definition is None or definition.type != "list" or kind not in WITH_LISTS:
        error = ErrorCode(context.behaviour.altered_config_error)
        raise ResourceFault(error, f"{config.name} is no list")
    start = held.get(config.name)
    if start is None:
        if not context.behaviour.lists_start_as_default:
            raise ResourceFault(ErrorCode.UNKNOWN_SERVER_ERROR, f"{config.name} is not set")
        start = definition.default or ""
    parts, given = elements(start), elements(config.value or "")
    if config.config_operation == Operation.SUBTRACT:
        return ",".join(part for part in parts if part not in given)
    if context.behaviour.kraft:
        given = [part for part in given if part not in parts]
    return ",".join([*parts, *given])


def _alter_loggers(
    one: AlterConfigsResource, context: RequestContext, *, validate_only: bool
) -> None:
    node_id = broker_of(one.resource_name, context, may_be_all=False)
    assert node_id is not None
    levels = dict(context.cluster.configs.loggers.get(node_id, {}))
    for config in one.configs:
        _check_logger(config)
        if config.config_operation == Operation.DELETE:
            levels.pop(config.name, None)
        else:
            levels[config.name] = config.value or ""
    if not validate_only:
        context.cluster.configs.loggers[node_id] = levels


def _check_logger(config: AlterableConfig) -> None:
    if config.config_operation not in (Operation.SET, Operation.DELETE):
        raise ResourceFault(ErrorCode.INVALID_REQUEST, "the level of a logger is no list")
    if config.name not in LOGGERS:
        raise ResourceFault(ErrorCode.INVALID_CONFIG, f"there is no logger `{config.name}`")
    if config.config_operation == Operation.DELETE:
        if config.name == "root":
            raise ResourceFault(ErrorCode.INVALID_REQUEST, "the root logger needs its level")
    elif config.value not in LEVELS:
        message = f"`{config.value}` is no level: {', '.join(sorted(LEVELS))} are"
        raise ResourceFault(ErrorCode.INVALID_CONFIG, message)
