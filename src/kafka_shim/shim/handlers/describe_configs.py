"""32 DescribeConfigs, versions 0-4. Settings with their sources and synonyms (KIP-133, 226, 569).

Brokers, their loggers and metrics subscriptions need permission on the cluster. Denied resources
come last. A resource of an unknown type fails the whole request. Values of sensitive settings are
omitted.

DEVIATION: a broker that is asked for `kafka.shim.authorizer.settings` by name returns what real
brokers keep to themselves, for `explain` and the like.
"""

import json
from collections.abc import Hashable, Iterator, Mapping

from kafka_shim.authorizer.authorizer import (
    ALLOW_EVERYONE,
    SHIM_SETTINGS,
    SUPER_USERS,
    StandardAuthorizer,
)
from kafka_shim.authorizer.requirement import Requirement
from kafka_shim.authorizer.requirements import (
    DESCRIBE_CONFIGS_CLUSTER,
    DESCRIBE_CONFIGS_GROUP,
    DESCRIBE_CONFIGS_TOPIC,
)
from kafka_shim.protocol.enums import ConfigResourceType
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.handlers.common.config_resources import (
    ConfigResourceError,
    config_access_error,
    is_describable_type,
    parse_id_of_this_broker,
    resource_type_in_error,
)
from kafka_shim.shim.handlers.common.duplicates import last_row_per_key
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.settings.config_documentation import config_documentation
from kafka_shim.shim.state.settings.config_entries import ConfigEntry, ConfigSource
from kafka_shim.shim.state.topics import name_error

CACHED_SINCE = 0
SETTINGS_MAX = 1_000_000
"""DEVIATION: Kafka describes as many as fit into a response of 2 GiB."""
REQUIREMENTS: Mapping[int, Requirement] = {
    ConfigResourceType.TOPIC: DESCRIBE_CONFIGS_TOPIC,
    ConfigResourceType.BROKER: DESCRIBE_CONFIGS_CLUSTER,
    ConfigResourceType.BROKER_LOGGER: DESCRIBE_CONFIGS_CLUSTER,
    ConfigResourceType.CLIENT_METRICS: DESCRIBE_CONFIGS_CLUSTER,
    ConfigResourceType.GROUP: DESCRIBE_CONFIGS_GROUP,
}


def handle(request: DescribeConfigsRequest, context: RequestContext) -> DescribeConfigsResponse:
    context.access.declare_no_further_checks()  # an unknown type needs no check
    resources = _deduplicate_resources(request.resources, context)
    errors: list[ErrorCode] = []
    for resource in resources:
        if not is_describable_type(resource.resource_type, context):
            break
        requirement = REQUIREMENTS[resource.resource_type]
        errors.append(config_access_error(context, requirement, resource.resource_name))
    if len(errors) < len(resources):
        message = f"resource type {resources[len(errors)].resource_type} has no settings"
        return DescribeConfigsResponse(
            results=[
                _failed_resource(resource, ErrorCode.INVALID_REQUEST, message, context)
                for resource in resources
            ]
        )
    described, denied, settings = [], [], 0
    known: dict[Hashable, DescribeConfigsResult] = {}  # a resource may be asked for many times
    for resource, error in zip(resources, errors, strict=True):
        if error is NO_ERROR:
            keys = resource.configuration_keys
            resource_key = (
                resource.resource_type,
                resource.resource_name,
                None if keys is None else tuple(keys),
            )
            if resource_key not in known:
                known[resource_key] = _describe_resource(resource, request, context)
            described.append(known[resource_key])
            settings += len(described[-1].configs)
            if settings > SETTINGS_MAX:
                raise CloseConnection(f"DescribeConfigs asks for more than {SETTINGS_MAX} settings")
        else:
            text = context.facts.configs.describe_configs_denial_messages.get(error)
            denied.append(_failed_resource(resource, error, text, context))
    return DescribeConfigsResponse(results=[*described, *denied])


error_response = mirroring_error_builder(
    DescribeConfigsResponse, request_field_names={"results": "resources"}
)


def _deduplicate_resources(
    resources: list[DescribeConfigsResource], context: RequestContext
) -> list[DescribeConfigsResource]:
    """Merge duplicates, of which the last counts, in releases before generated messages."""
    if context.facts.configs.describe_configs_uses_generated_messages:
        return resources
    return last_row_per_key(
        resources,
        lambda resource: (
            resource_type_in_error(resource.resource_type, context),
            resource.resource_name,
        ),
    )


def _failed_resource(
    resource: DescribeConfigsResource,
    error: ErrorCode,
    message: str | None,
    context: RequestContext,
) -> DescribeConfigsResult:
    return DescribeConfigsResult(
        error_code=error,
        error_message=message,
        resource_type=resource_type_in_error(resource.resource_type, context),
        resource_name=resource.resource_name,
    )


def _describe_resource(
    resource: DescribeConfigsResource, request: DescribeConfigsRequest, context: RequestContext
) -> DescribeConfigsResult:
    try:
        entries = _config_entries(resource, context)
    except ConfigResourceError as failure:
        return _failed_resource(resource, failure.error, failure.message, context)
    keys = resource.configuration_keys
    if keys is not None and (
        keys or not context.facts.configs.describe_configs_uses_generated_messages
    ):
        requested_names = frozenset(keys)
        entries = (entry for entry in entries if entry.name in requested_names)
    result = DescribeConfigsResult(
        error_message=context.facts.configs.describe_configs_ok_message,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
        configs=[_config_entry_result(entry, resource, request, context) for entry in entries],
    )
    if keys and SHIM_SETTINGS in keys and resource.resource_type == ConfigResourceType.BROKER:
        result.configs += _authorizer_settings(context)
    return result


def _authorizer_settings(context: RequestContext) -> Iterator[DescribeConfigsResourceResult]:
    """Yield one entry with the release and the standard authorizer's settings as JSON."""
    authorizer = context.access.authorizer
    if isinstance(authorizer, StandardAuthorizer):
        values = {
            "release": context.cluster.policy.release,
            ALLOW_EVERYONE: str(authorizer.allow_everyone).lower(),
            SUPER_USERS: ";".join(sorted(authorizer.super_users)),
        }
        yield DescribeConfigsResourceResult(
            name=SHIM_SETTINGS, value=json.dumps(values), read_only=True
        )


def _config_entries(
    resource: DescribeConfigsResource, context: RequestContext
) -> Iterator[ConfigEntry]:
    configs, name = context.cluster.configs, resource.resource_name
    match resource.resource_type:
        case ConfigResourceType.TOPIC:
            return _topic_config_entries(name, context)
        case ConfigResourceType.BROKER:
            node_id = parse_id_of_this_broker(
                name, context, may_be_all=context.facts.configs.broker_configs_can_be_altered
            )
            facts = context.facts.configs
            if node_id is None:
                return configs.all_brokers_entries(facts.configs_wrongly_shown_as_read_only)
            return configs.broker_entries(
                node_id,
                with_unknown=facts.broker_configs_can_be_altered,
                altered_list_internal=facts.altered_brokers_list_internal_configs,
                configs_wrongly_shown_as_alterable=facts.configs_wrongly_shown_as_alterable,
                configs_wrongly_shown_as_read_only=facts.configs_wrongly_shown_as_read_only,
            )
        case ConfigResourceType.BROKER_LOGGER:
            node_id = parse_id_of_this_broker(name, context, may_be_all=False)
            assert node_id is not None
            return configs.logger_entries(node_id)
        case ConfigResourceType.GROUP:
            if not name:
                raise ConfigResourceError(ErrorCode.INVALID_REQUEST, "the group has no name")
            return configs.group_entries(name)
        case _:
            if not name:
                raise ConfigResourceError(ErrorCode.INVALID_REQUEST, "the subscription has no name")
            return configs.client_metrics_entries(
                name, with_defaults=context.facts.configs.client_metrics_describe_default_configs
            )


def _topic_config_entries(name: str, context: RequestContext) -> Iterator[ConfigEntry]:
    message = name_error(name)
    if message is not None:
        raise ConfigResourceError(ErrorCode.INVALID_TOPIC_EXCEPTION, message)
    topics = context.cluster.topics
    topic = topics.get(name)
    if (
        topics.led_topic(name) is None
        and context.facts.configs.describe_configs_rejects_missing_topics
    ):
        message = context.facts.configs.describe_configs_ok_message
        raise ConfigResourceError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
    if topic is not None and topic.unreadable:
        raise ConfigResourceError(ErrorCode.UNKNOWN_SERVER_ERROR, None)
    return context.cluster.configs.topic_entries({} if topic is None else topic.configs)


def _config_entry_result(
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
        # since the generated messages version 0 never says so, a bug of theirs
        is_default = entry.source is ConfigSource.DEFAULT
        result.is_default = (
            is_default and not context.facts.configs.describe_configs_uses_generated_messages
        )
        return result
    result.config_source = entry.source
    if request.include_synonyms:
        result.synonyms = [
            DescribeConfigsSynonym(name=synonym.name, value=synonym.value, source=synonym.source)
            for synonym in entry.synonyms
        ]
    if context.version >= 3:
        result.config_type = entry.type_code
        result.documentation = _config_documentation(entry, resource, request, context)
    return result


def _config_documentation(
    entry: ConfigEntry,
    resource: DescribeConfigsResource,
    request: DescribeConfigsRequest,
    context: RequestContext,
) -> str | None:
    """Return a setting's documentation; empty for loggers, whether requested or not, and for
    subscriptions to client metrics up to 4.0.
    """
    kind = resource.resource_type
    if kind == ConfigResourceType.BROKER_LOGGER:
        return ""
    if (
        kind == ConfigResourceType.CLIENT_METRICS
        and not context.facts.configs.client_metrics_configs_have_documentation
    ):
        return ""
    if not request.include_documentation:
        return None
    definition = context.cluster.configs.definitions_of_resource_type(kind).get(entry.name)
    if definition is not None and not definition.is_documented:
        return None
    return config_documentation(kind, entry.name, definition)
