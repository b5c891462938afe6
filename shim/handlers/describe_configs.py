"""32 DescribeConfigs, versions 0-4. Settings with their sources and synonyms (KIP-133, 226, 569).

Brokers, their loggers and metrics subscriptions count as the cluster. Denied resources come last,
and a resource of an unknown type fails the whole request. Secrets are told without their value.
"""

from collections.abc import Iterable, Iterator, Mapping

from authorizer.requirement import Requirement
from authorizer.requirements import (
    DESCRIBE_CONFIGS_CLUSTER,
    DESCRIBE_CONFIGS_GROUP,
    DESCRIBE_CONFIGS_TOPIC,
)
from protocol.enums import ConfigResourceType
from protocol.error_codes import ErrorCode
from protocol.messages.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from protocol.messages.describe_configs_response import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from shim.context import RequestContext
from shim.handling.config_access import config_error
from shim.handling.config_resources import ResourceFault, broker_of, echoed_type, is_known_type
from shim.state.config_documentation import documentation
from shim.state.config_entries import ConfigEntry, Source
from shim.state.topic_names import fault_of_name

REQUIREMENTS: Mapping[int, Requirement] = {
    ConfigResourceType.TOPIC: DESCRIBE_CONFIGS_TOPIC,
    ConfigResourceType.BROKER: DESCRIBE_CONFIGS_CLUSTER,
    ConfigResourceType.BROKER_LOGGER: DESCRIBE_CONFIGS_CLUSTER,
    ConfigResourceType.CLIENT_METRICS: DESCRIBE_CONFIGS_CLUSTER,
    ConfigResourceType.GROUP: DESCRIBE_CONFIGS_GROUP,
}


def handle(request: DescribeConfigsRequest, context: RequestContext) -> DescribeConfigsResponse:
    context.access.nothing_more()  # an unknown type is answered without asking
    resources = _distinct(request.resources, context)
    unknown = [one for one in resources if not is_known_type(one.resource_type, context)]
    if unknown:
        message = f"resource type {unknown[0].resource_type} has no settings"
        return DescribeConfigsResponse(
            results=[_failed(one, ErrorCode.INVALID_REQUEST, message, context) for one in resources]
        )
    described, denied = [], []
    for resource in resources:
        requirement = REQUIREMENTS[resource.resource_type]
        error = config_error(context, requirement, resource.resource_name)
        if error is ErrorCode.NONE:
            described.append(_describe(resource, request, context))
        else:
            text = context.config_behaviour.config_denials.get(error)
            denied.append(_failed(resource, error, text, context))
    return DescribeConfigsResponse(results=[*described, *denied])


def refuse(
    request: DescribeConfigsRequest, error: ErrorCode, message: str | None
) -> DescribeConfigsResponse:
    return DescribeConfigsResponse(
        results=[
            DescribeConfigsResult(
                error_code=error,
                error_message=message,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource in request.resources
        ]
    )


def _distinct(
    resources: Iterable[DescribeConfigsResource], context: RequestContext
) -> list[DescribeConfigsResource]:
    """Before the generated messages a resource given twice was one, the last."""
    if context.config_behaviour.generated_config_messages:
        return list(resources)
    return list(
        {
            (echoed_type(one.resource_type, context), one.resource_name): one for one in resources
        }.values()
    )


def _failed(
    resource: DescribeConfigsResource,
    error: ErrorCode,
    message: str | None,
    context: RequestContext,
) -> DescribeConfigsResult:
    return DescribeConfigsResult(
        error_code=error,
        error_message=message,
        resource_type=echoed_type(resource.resource_type, context),
        resource_name=resource.resource_name,
    )


def _describe(
    resource: DescribeConfigsResource, request: DescribeConfigsRequest, context: RequestContext
) -> DescribeConfigsResult:
    try:
        entries = _entries(resource, context)
    except ResourceFault as fault:
        return _failed(resource, fault.error, fault.message, context)
    keys = resource.configuration_keys
    if keys is not None and (keys or not context.config_behaviour.generated_config_messages):
        wanted = frozenset(keys)
        entries = (entry for entry in entries if entry.name in wanted)
    return DescribeConfigsResult(
        error_message=context.config_behaviour.config_success_message,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
        configs=[_told(entry, resource, request, context) for entry in entries],
    )


def _entries(resource: DescribeConfigsResource, context: RequestContext) -> Iterator[ConfigEntry]:
    configs, name = context.cluster.configs, resource.resource_name
    match resource.resource_type:
        case ConfigResourceType.TOPIC:
            return _topic_entries(name, context)
        case ConfigResourceType.BROKER:
            node_id = broker_of(name, context, may_be_all=context.config_behaviour.dynamic_brokers)
            if node_id is None:
                return configs.all_brokers_entries()
            return configs.broker_entries(
                node_id, with_unknown=context.config_behaviour.dynamic_brokers
            )
        case ConfigResourceType.BROKER_LOGGER:
            node_id = broker_of(name, context, may_be_all=False)
            assert node_id is not None
            return configs.logger_entries(node_id)
        case ConfigResourceType.GROUP:
            if not name:
                raise ResourceFault(ErrorCode.INVALID_REQUEST, "the group has no name")
            return configs.group_entries(name)
        case _:
            if not name:
                raise ResourceFault(ErrorCode.INVALID_REQUEST, "the subscription has no name")
            return configs.client_metrics_entries(
                name, with_defaults=context.config_behaviour.client_metrics_have_defaults
            )


def _topic_entries(name: str, context: RequestContext) -> Iterator[ConfigEntry]:
    fault = fault_of_name(name)
    if fault is not None:
        raise ResourceFault(ErrorCode.INVALID_TOPIC_EXCEPTION, fault)
    topic = context.cluster.topics.get(name)
    if topic is None and context.config_behaviour.missing_topics_have_no_configs:
        message = context.config_behaviour.config_success_message
        raise ResourceFault(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
    return context.cluster.configs.topic_entries({} if topic is None else topic.configs)


def _told(
    entry: ConfigEntry,
    resource: DescribeConfigsResource,
    request: DescribeConfigsRequest,
    context: RequestContext,
) -> DescribeConfigsResourceResult:
    result = DescribeConfigsResourceResult(
        name=entry.name,
        value=entry.value,
        read_only=entry.read_only,
        is_sensitive=entry.is_sensitive,
    )
    if context.version == 0:
        # since the generated messages version 0 never says so, a fault of theirs
        is_default = entry.source is Source.DEFAULT
        result.is_default = is_default and not context.config_behaviour.generated_config_messages
        return result
    result.config_source = entry.source
    if request.include_synonyms:
        result.synonyms = [
            DescribeConfigsSynonym(name=one.name, value=one.value, source=one.source)
            for one in entry.synonyms
        ]
    if context.version >= 3:
        result.config_type = entry.type_code
        result.documentation = _documented(entry, resource, request, context)
    return result


def _documented(
    entry: ConfigEntry,
    resource: DescribeConfigsResource,
    request: DescribeConfigsRequest,
    context: RequestContext,
) -> str | None:
    """Loggers have an empty text, asked for or not."""
    if resource.resource_type == ConfigResourceType.BROKER_LOGGER:
        return ""
    if not request.include_documentation:
        return None
    kind = resource.resource_type
    definition = context.cluster.configs.definitions_of(kind).get(entry.name)
    return documentation(kind, entry.name, definition)
