"""33 AlterConfigs, versions 0-2. Settings that are not listed are reset (KIP-133, KIP-226).

On KRaft the broker validates a resource before the controller checks permissions, so any caller can
get its INVALID_REQUEST (42); on ZooKeeper permissions are checked first. Loggers can only be
altered with IncrementalAlterConfigs.
"""

from collections import Counter
from collections.abc import Mapping
from functools import partial

from kafka_shim.authorizer.requirement import Requirement
from kafka_shim.authorizer.requirements import (
    ALTER_CONFIGS_CLUSTER,
    ALTER_CONFIGS_GROUP,
    ALTER_CONFIGS_TOPIC,
)
from kafka_shim.protocol.enums import ConfigResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from kafka_shim.shim.errors import CloseConnection, RequestRejected
from kafka_shim.shim.handlers.common import config_change, early_kraft_configs
from kafka_shim.shim.handlers.common.config_resources import (
    ConfigResourceError,
    authorize_broker_early,
    check_not_duplicated,
    is_describable_type,
    require_config_access,
    resource_type_in_alter_response,
    unalterable_type_error,
)
from kafka_shim.shim.handlers.common.duplicates import last_row_per_key
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext

REQUIREMENTS: Mapping[int, Requirement] = {
    ConfigResourceType.TOPIC: ALTER_CONFIGS_TOPIC,
    ConfigResourceType.BROKER: ALTER_CONFIGS_CLUSTER,
    ConfigResourceType.CLIENT_METRICS: ALTER_CONFIGS_CLUSTER,
    ConfigResourceType.GROUP: ALTER_CONFIGS_GROUP,
}


def handle(request: AlterConfigsRequest, context: RequestContext) -> AlterConfigsResponse:
    context.access.declare_no_further_checks()  # a malformed resource needs no check
    resources = request.resources
    if context.facts.configs.controller_alters_configs_unchecked:
        return _alter_as_kraft_3_0_controller(request, context)
    if context.facts.configs.brokers_check_configs_before_permission:
        counts = Counter((resource.resource_type, resource.resource_name) for resource in resources)
    else:
        resources = last_row_per_key(
            resources,
            lambda resource: (
                resource_type_in_alter_response(resource.resource_type, context),
                resource.resource_name,
            ),
        )
        counts = Counter()
        try:
            _check_request_as_zookeeper(request, context)
        except ConfigResourceError as failure:
            return AlterConfigsResponse(
                responses=[
                    _resource_response(resource, failure.error, failure.message, context)
                    for resource in resources
                ]
            )
    responses = []
    for resource in resources:
        try:
            # DEVIATION: a real KRaft broker never answers a request with a resource twice.
            check_not_duplicated(counts[resource.resource_type, resource.resource_name])
            _alter_resource(resource, context, validate_only=request.validate_only)
        except ConfigResourceError as failure:
            responses.append(_resource_response(resource, failure.error, failure.message, context))
        else:
            responses.append(_resource_response(resource, ErrorCode.NONE, None, context))
    return AlterConfigsResponse(responses=responses)


def _alter_as_kraft_3_0_controller(
    request: AlterConfigsRequest, context: RequestContext
) -> AlterConfigsResponse:
    rows, allowed = early_kraft_configs.check_altered_resources(
        request.resources, REQUIREMENTS, context
    )
    alter = partial(
        _replace_settings_as_kraft_3_0_controller,
        context=context,
        validate_only=request.validate_only,
    )
    rows += early_kraft_configs.alter_each_resource(allowed, alter, context)
    return AlterConfigsResponse(
        responses=[
            _resource_response(resource, ErrorCode.NONE, None, context)
            if failure is None
            else _resource_response(resource, failure.error, failure.message, context)
            for resource, failure in rows
        ]
    )


def _replace_settings_as_kraft_3_0_controller(
    resource: AlterConfigsResource, *, context: RequestContext, validate_only: bool
) -> None:
    """Apply settings like a controller of 3.0 or 3.1, which leaves out settings without a value."""
    kind, name = resource.resource_type, resource.resource_name
    new = {config.name: config.value for config in resource.configs if config.value is not None}
    early_kraft_configs.stored_settings(kind, name, context)
    early_kraft_configs.check_new_topic_settings(kind, new, context)
    if not validate_only:
        early_kraft_configs.store_resource_settings(kind, name, new, context)


error_response = mirroring_error_builder(
    AlterConfigsResponse, request_field_names={"responses": "resources"}
)


def _resource_response(
    resource: AlterConfigsResource, error: ErrorCode, message: str | None, context: RequestContext
) -> AlterConfigsResourceResponse:
    return AlterConfigsResourceResponse(
        error_code=error,
        error_message=message,
        resource_type=resource_type_in_alter_response(resource.resource_type, context),
        resource_name=resource.resource_name,
    )


def _check_request_as_zookeeper(request: AlterConfigsRequest, context: RequestContext) -> None:
    """Raise the errors for which a ZooKeeper broker fails the whole request."""
    null_outcome = context.facts.configs.alter_configs_null_value_effect
    if null_outcome != "fail resource" and any(
        config.value is None for resource in request.resources for config in resource.configs
    ):
        if null_outcome == "close":
            raise CloseConnection("a setting in AlterConfigs has no value")
        raise RequestRejected(ErrorCode.UNKNOWN_SERVER_ERROR)
    for resource in request.resources:
        if not _is_alterable_type(resource.resource_type, context):
            raise unalterable_type_error(resource.resource_type)


def _is_alterable_type(kind: int, context: RequestContext) -> bool:
    return is_describable_type(kind, context) and kind != ConfigResourceType.BROKER_LOGGER


def _alter_resource(
    resource: AlterConfigsResource, context: RequestContext, *, validate_only: bool
) -> None:
    kind, name = resource.resource_type, resource.resource_name
    new = {config.name: config.value for config in resource.configs if config.value is not None}
    nulls = [config.name for config in resource.configs if config.value is None]
    if context.facts.configs.brokers_check_configs_before_permission:
        if nulls:
            message = f"settings need a value: {', '.join(nulls)}"
            raise ConfigResourceError(ErrorCode.INVALID_REQUEST, message)
        if len(new) < len(resource.configs):
            raise ConfigResourceError(ErrorCode.INVALID_REQUEST, "duplicate setting")
    if not _is_alterable_type(kind, context):
        raise unalterable_type_error(kind)
    if (
        context.facts.configs.brokers_check_configs_before_permission
        and kind == ConfigResourceType.BROKER
    ):
        authorize_broker_early(context, REQUIREMENTS[kind], name)
        config_change.settings_to_alter(kind, name, context)
        config_change.check_broker_settings(name, new, context)
    require_config_access(context, REQUIREMENTS[kind], name)
    if nulls:
        raise ConfigResourceError(ErrorCode.UNKNOWN_SERVER_ERROR, None)
    config_change.settings_to_alter(kind, name, context)
    config_change.check_new_settings(kind, name, new, context)
    if not validate_only:
        config_change.store_settings(kind, name, new, context)
