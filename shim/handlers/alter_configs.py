"""33 AlterConfigs, versions 0-2. What is not given is reset to its default (KIP-133, KIP-226).

On KRaft the broker looks over a resource before the controller asks for rights, so its 42 tells
something to everybody; on ZooKeeper rights come first. Loggers can only be altered incrementally.
"""

from collections import Counter
from collections.abc import Mapping

from authorizer.requirement import Requirement
from authorizer.requirements import (
    ALTER_CONFIGS_CLUSTER,
    ALTER_CONFIGS_GROUP,
    ALTER_CONFIGS_TOPIC,
)
from protocol.enums import ConfigResourceType
from protocol.error_codes import ErrorCode
from protocol.messages.alter_configs_request import AlterConfigsRequest, AlterConfigsResource
from protocol.messages.alter_configs_response import (
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from shim.context import RequestContext
from shim.errors import CloseConnection, Refused
from shim.handling import config_change
from shim.handling.config_access import require_config
from shim.handling.config_resources import (
    ResourceFault,
    altered_type,
    check_single,
    is_known_type,
    not_alterable,
)

REQUIREMENTS: Mapping[int, Requirement] = {
    ConfigResourceType.TOPIC: ALTER_CONFIGS_TOPIC,
    ConfigResourceType.BROKER: ALTER_CONFIGS_CLUSTER,
    ConfigResourceType.CLIENT_METRICS: ALTER_CONFIGS_CLUSTER,
    ConfigResourceType.GROUP: ALTER_CONFIGS_GROUP,
}


def handle(request: AlterConfigsRequest, context: RequestContext) -> AlterConfigsResponse:
    context.access.nothing_more()  # a malformed resource is answered without asking
    resources = request.resources
    if context.behaviour.kraft:
        counts = Counter((one.resource_type, one.resource_name) for one in resources)
    else:
        resources = list(
            {
                (altered_type(one.resource_type, context), one.resource_name): one
                for one in resources
            }.values()
        )
        counts = Counter()
        try:
            _check_all(request, context)
        except ResourceFault as fault:
            return AlterConfigsResponse(
                responses=[_response(one, fault.error, fault.message, context) for one in resources]
            )
    responses = []
    for one in resources:
        try:
            # DEVIATION: a real KRaft broker never answers a request with a resource twice.
            check_single(counts[one.resource_type, one.resource_name])
            _alter(one, context, validate_only=request.validate_only)
        except ResourceFault as fault:
            responses.append(_response(one, fault.error, fault.message, context))
        else:
            responses.append(_response(one, ErrorCode.NONE, None, context))
    return AlterConfigsResponse(responses=responses)


def refuse(
    request: AlterConfigsRequest, error: ErrorCode, message: str | None
) -> AlterConfigsResponse:
    return AlterConfigsResponse(
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


def _response(
    one: AlterConfigsResource, error: ErrorCode, message: str | None, context: RequestContext
) -> AlterConfigsResourceResponse:
    return AlterConfigsResourceResponse(
        error_code=error,
        error_message=message,
        resource_type=altered_type(one.resource_type, context),
        resource_name=one.resource_name,
    )


def _check_all(request: AlterConfigsRequest, context: RequestContext) -> None:
    """What makes a broker on ZooKeeper fail a whole request."""
    for one in request.resources:
        if not _is_alterable(one.resource_type, context):
            raise not_alterable(one.resource_type)
    null_outcome = context.config_behaviour.altered_null
    if null_outcome != "fail resource" and any(
        config.value is None for one in request.resources for config in one.configs
    ):
        if null_outcome == "close":
            raise CloseConnection("a setting in AlterConfigs has no value")
        raise Refused(ErrorCode.UNKNOWN_SERVER_ERROR)


def _is_alterable(kind: int, context: RequestContext) -> bool:
    return is_known_type(kind, context) and kind != ConfigResourceType.BROKER_LOGGER


def _alter(one: AlterConfigsResource, context: RequestContext, *, validate_only: bool) -> None:
    kind, name = one.resource_type, one.resource_name
    new = {config.name: config.value for config in one.configs if config.value is not None}
    nulls = [config.name for config in one.configs if config.value is None]
    if context.behaviour.kraft:
        if nulls:
            message = f"settings need a value: {', '.join(nulls)}"
            raise ResourceFault(ErrorCode.INVALID_REQUEST, message)
        if len(new) < len(one.configs):
            raise ResourceFault(ErrorCode.INVALID_REQUEST, "a setting is given twice")
    if not _is_alterable(kind, context):
        raise not_alterable(kind)
    if context.behaviour.kraft and kind == ConfigResourceType.BROKER:
        config_change.current(kind, name, context)
        config_change.check_broker(name, new, context)
    require_config(context, REQUIREMENTS[kind], name)
    if nulls:
        raise ResourceFault(ErrorCode.UNKNOWN_SERVER_ERROR, None)
    config_change.current(kind, name, context)
    config_change.check(kind, name, new, context)
    if not validate_only:
        config_change.store(kind, name, new, context)
