"""Altering settings on KRaft 3.0 and 3.1, where brokers check nothing and controllers little.

Unknown resource types are rejected first, then duplicate resources, then denied ones. The topic or
broker need not exist, and a broker's setting can have any value: brokers ignore invalid ones.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Generic, NamedTuple, Protocol, TypeVar

from kafka_shim.authorizer.requirement import Requirement
from kafka_shim.protocol.enums import ConfigResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
)
from kafka_shim.shim.handlers.common import config_change
from kafka_shim.shim.handlers.common.config_resources import (
    ConfigOperation,
    ConfigResourceError,
    check_not_duplicated,
    is_describable_type,
    require_config_access,
    unalterable_type_error,
)
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.topics import name_error

NODE_ID_MAX = 2**31 - 1


class NamedConfigResource(Protocol):
    """What both altering APIs name."""

    resource_type: int
    resource_name: str


Altered = TypeVar("Altered", bound=NamedConfigResource)


class AuthorizedResources(NamedTuple, Generic[Altered]):
    """Resources of a request: rejected ones with their errors, and those that may be altered."""

    rejected: list[tuple[Altered, ConfigResourceError | None]]
    alterable: list[Altered]


def check_altered_resources(
    resources: Sequence[Altered], requirements: Mapping[int, Requirement], context: RequestContext
) -> AuthorizedResources[Altered]:
    """Check types, duplicates and permissions.

    Each resource occurs once, but those of an unknown type as often as in the request.
    """
    rows: list[tuple[Altered, ConfigResourceError | None]] = []
    named: dict[tuple[int, str], Altered] = {}
    counts: Counter[tuple[int, str]] = Counter()
    for resource in resources:
        kind, name = resource.resource_type, resource.resource_name
        if is_describable_type(kind, context):
            named[kind, name] = resource
            counts[kind, name] += 1
        else:
            message = f"resource type {kind} is unknown"
            rows.append((resource, ConfigResourceError(ErrorCode.UNSUPPORTED_VERSION, message)))
    allowed: list[Altered] = []
    for (kind, name), resource in named.items():
        try:
            check_not_duplicated(counts[kind, name])
            if kind == ConfigResourceType.BROKER_LOGGER:
                raise unalterable_type_error(kind)
            require_config_access(context, requirements[kind], name)
        except ConfigResourceError as failure:
            rows.append((resource, failure))
        else:
            allowed.append(resource)
    return AuthorizedResources(rows, allowed)


def alter_each_resource(
    allowed: Sequence[Altered], alter: Callable[[Altered], None], context: RequestContext
) -> Iterator[tuple[Altered, ConfigResourceError | None]]:
    """Alter resources one after the other, and return their errors."""
    for resource in allowed:
        try:
            alter(resource)
        except ConfigResourceError as failure:
            yield resource, failure
        else:
            yield resource, None


def stored_settings(kind: int, name: str, context: RequestContext) -> Mapping[str, str]:
    """Return the stored settings, also those for a topic that does not exist yet.

    Raise ConfigResourceError for an invalid name.
    """
    if kind == ConfigResourceType.TOPIC:
        message = name_error(name)
        if message is not None:
            raise ConfigResourceError(ErrorCode.INVALID_REQUEST, message)
        topic = context.cluster.topics.get(name)
        prepared = context.cluster.topics.prepared.get(name, {})
        return prepared if topic is None else topic.configs
    configs = context.cluster.configs
    return configs.brokers.get(_parse_node_id(name), {}) if name else configs.all_brokers


def check_new_topic_settings(kind: int, new: Mapping[str, str], context: RequestContext) -> None:
    """Raise ConfigResourceError for invalid settings of a topic, in releases that check them."""
    if kind == ConfigResourceType.TOPIC and context.facts.configs.topic_configs_are_validated:
        config_change.check_topic_settings(new, context)


def store_resource_settings(
    kind: int, name: str, new: Mapping[str, str], context: RequestContext
) -> None:
    """Replace the settings of a resource; its topic may be created later."""
    if kind == ConfigResourceType.TOPIC and name not in context.cluster.topics:
        prepared = context.cluster.topics.prepared
        if new:
            prepared[name] = dict(new)
        else:
            prepared.pop(name, None)
        return
    if kind == ConfigResourceType.BROKER:
        new = _drop_rejected_broker_settings(name, new, context)
    config_change.store_settings(kind, name, new, context)


def _parse_node_id(name: str) -> int:
    try:
        node_id = int(name)
    except ValueError:
        node_id = -1
    if not 0 <= node_id <= NODE_ID_MAX:
        message = f"`{name}` is not the id of a broker"
        raise ConfigResourceError(ErrorCode.INVALID_REQUEST, message)
    return node_id


def _drop_rejected_broker_settings(
    name: str, new: Mapping[str, str], context: RequestContext
) -> dict[str, str]:
    """Return the settings that a broker accepts."""
    accepted = {}
    for key, value in new.items():
        with suppress(ConfigResourceError):
            config_change.check_broker_settings(name, {key: value}, context)
            accepted[key] = value
    return accepted


NULL_TEXT = "null"
"""What Java makes of an element without a value."""


def apply_operations_as_kraft_3_0(
    resource: AlterConfigsResource, *, context: RequestContext, validate_only: bool
) -> None:
    """Apply operations to a resource's settings and store them, unless only validating.

    Raise ConfigResourceError if one is invalid.
    """
    kind, name = resource.resource_type, resource.resource_name
    settings = stored_settings(kind, name, context)
    new = dict(settings)
    for config in {config.name: config for config in resource.configs}.values():
        value = _changed_value(kind, config, settings, context)
        if value is None:
            new.pop(config.name, None)
        else:
            new[config.name] = value
    check_new_topic_settings(kind, new, context)
    if not validate_only:
        store_resource_settings(kind, name, new, context)


def _changed_value(
    kind: int, config: AlterableConfig, settings: Mapping[str, str], context: RequestContext
) -> str | None:
    """Return the new value of a setting; None: not set."""
    match config.config_operation:
        case ConfigOperation.SET:
            return config.value
        case ConfigOperation.DELETE:
            if config.value is not None and context.facts.configs.config_delete_rejects_value:
                raise ConfigResourceError(ErrorCode.INVALID_REQUEST, "a deletion has no value")
            return None
    definition = context.cluster.configs.definitions_of_resource_type(kind).get(config.name)
    if definition is None or definition.type != "list":
        raise ConfigResourceError(ErrorCode.INVALID_CONFIG, f"{config.name} is not a list")
    before = settings.get(config.name)
    parts = [part for part in (before or definition.default or "").split(",") if part]
    element = NULL_TEXT if config.value is None else config.value
    if config.config_operation == ConfigOperation.APPEND:
        return ",".join(parts if element in parts else [*parts, element])
    if config.value not in parts:
        return before
    parts.remove(element)
    return ",".join(parts)
