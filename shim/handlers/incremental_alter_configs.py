"""44 IncrementalAlterConfigs, versions 0-1. Set, delete, append, subtract (KIP-339, KIP-412).

On KRaft the broker looks over a resource before the controller asks for rights, and alters its own
loggers itself; on ZooKeeper rights come first. One denied resource does not disturb the others.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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
from shim.handling.config_resources import (
    ResourceFault,
    broker_of,
    check_single,
    is_known_type,
    not_alterable,
)
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
    asked = [(one, _response(one)) for one in resources]
    if not context.behaviour.kraft:
        for one, response in asked:
            with _telling(response):
                _alter(one, context, validate_only=request.validate_only)
    else:
        forwarded = []
        for one, response in asked:
            with _telling(response):
                check_single(counts[one.resource_type, one.resource_name])
                if _is_forwarded(one, context, validate_only=request.validate_only):
                    forwarded.append((one, response))
        _ask_controller(forwarded, context, validate_only=request.validate_only)
    return IncrementalAlterConfigsResponse(responses=[response for _, response in asked])


def _response(one: AlterConfigsResource) -> AlterConfigsResourceResponse:
    return AlterConfigsResourceResponse(
        error_message=None, resource_type=one.resource_type, resource_name=one.resource_name
    )


@contextmanager
def _telling(response: AlterConfigsResourceResponse) -> Iterator[None]:
    """A fault is that of this resource alone."""
    try:
        yield
    except ResourceFault as fault:
        response.error_code, response.error_message = fault.error, fault.message


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


def _alter(one: AlterConfigsResource, context: RequestContext, *, validate_only: bool) -> None:
    """One resource, on ZooKeeper."""
    if one.resource_type == ConfigResourceType.BROKER_LOGGER:
        _alter_own_loggers(one, context, validate_only=validate_only)
        return
    require_config(context, REQUIREMENTS[one.resource_type], one.resource_name)
    _check_form(one, context)
    _check_operations(one)
    _change(one, context, validate_only=validate_only)


def _is_forwarded(
    one: AlterConfigsResource, context: RequestContext, *, validate_only: bool
) -> bool:
    """What a broker on KRaft does: whether it leaves the resource to the controller."""
    kind, name = one.resource_type, one.resource_name
    _check_form(one, context)
    if not is_known_type(kind, context):
        raise not_alterable(kind)
    if kind == ConfigResourceType.BROKER_LOGGER:
        _alter_own_loggers(one, context, validate_only=validate_only)
        return False
    if kind == ConfigResourceType.BROKER:
        _check_operations(one, ErrorCode.INVALID_REQUEST)
        new = _applied(one, config_change.current(kind, name, context), context)
        config_change.check_broker(name, new, context)
    return True


def _ask_controller(
    forwarded: Sequence[tuple[AlterConfigsResource, AlterConfigsResourceResponse]],
    context: RequestContext,
    *,
    validate_only: bool,
) -> None:
    """All fail, and none is changed, if one that may be altered has an unknown operation."""
    allowed = []
    for one, response in forwarded:
        with _telling(response):
            require_config(context, REQUIREMENTS[one.resource_type], one.resource_name)
            allowed.append((one, response))
    try:
        for one, _ in allowed:
            _check_operations(one)
    except ResourceFault as fault:
        for _, response in forwarded:
            response.error_code, response.error_message = fault.error, fault.message
        return
    for one, response in allowed:
        with _telling(response):
            _change(one, context, validate_only=validate_only)


def _change(one: AlterConfigsResource, context: RequestContext, *, validate_only: bool) -> None:
    kind, name = one.resource_type, one.resource_name
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
        error = ErrorCode(context.config_behaviour.altered_null_error)
        is_said = error is not ErrorCode.UNKNOWN_SERVER_ERROR
        message = f"settings need a value: {', '.join(nulls)}" if is_said else None
        raise ResourceFault(error, message)
    if len({config.name for config in one.configs}) < len(one.configs):
        raise ResourceFault(ErrorCode.INVALID_REQUEST, "a setting is given twice")
    if not one.resource_name and one.resource_type == ConfigResourceType.TOPIC:
        is_early = not context.behaviour.kraft
        if is_early:
            raise ResourceFault(ErrorCode.INVALID_REQUEST, "the topic has no name")


def _check_operations(
    one: AlterConfigsResource, error: ErrorCode = ErrorCode.UNKNOWN_SERVER_ERROR
) -> None:
    for config in one.configs:
        if config.config_operation not in list(Operation):
            is_told = error is not ErrorCode.UNKNOWN_SERVER_ERROR
            text = f"operation {config.config_operation} is unknown" if is_told else None
            raise ResourceFault(error, text)


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
    return new


def _extended(
    kind: int, config: AlterableConfig, held: Mapping[str, str], context: RequestContext
) -> str:
    """A list with some elements more or less; one that is not set starts as its default."""
    definitions = context.cluster.configs.definitions_of(kind)
    definition = definitions.get(config.name)
    if definition is None and (kind == ConfigResourceType.BROKER or not context.behaviour.kraft):
        error = ErrorCode(context.config_behaviour.unknown_list_error)
        is_new = error is not ErrorCode.UNKNOWN_SERVER_ERROR
        is_said = is_new or not context.config_behaviour.lists_start_as_default
        raise ResourceFault(error, f"{config.name} is no setting" if is_said else None)
    if definition is None or definition.type != "list" or kind not in WITH_LISTS:
        error = ErrorCode(context.config_behaviour.altered_config_error)
        raise ResourceFault(error, f"{config.name} is no list")
    start = held.get(config.name)
    if start is None:
        if not context.config_behaviour.lists_start_as_default:
            raise ResourceFault(ErrorCode.UNKNOWN_SERVER_ERROR, f"{config.name} is not set")
        start = definition.default or ""
    parts, given = elements(start), elements(config.value or "")
    if config.config_operation == Operation.SUBTRACT:
        return ",".join(part for part in parts if part not in given)
    if context.behaviour.kraft:
        given = [part for part in given if part not in parts]
    return ",".join([*parts, *given])


def _alter_own_loggers(
    one: AlterConfigsResource, context: RequestContext, *, validate_only: bool
) -> None:
    kind = ConfigResourceType.BROKER_LOGGER
    require_config(context, REQUIREMENTS[kind], one.resource_name, is_said=False)
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
