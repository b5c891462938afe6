"""IncrementalAlterConfigs on KRaft 3.0 and 3.1.

Of a setting that is named twice the last operation counts, and SET without a value deletes. APPEND
and SUBTRACT take their value as one element, whatever commas it has.
"""

from collections.abc import Mapping

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)
from kafka_shim.shim.handlers.common import early_controllers
from kafka_shim.shim.handlers.common.config_operations import ConfigOperation
from kafka_shim.shim.handlers.common.config_resources import ResourceError
from kafka_shim.shim.request.context import RequestContext

NULL = "null"
"""What Java makes of an element without a value."""


def alter(resource: AlterConfigsResource, *, context: RequestContext, validate_only: bool) -> None:
    """Apply the operations to a resource; ResourceError if one is invalid."""
    kind, name = resource.resource_type, resource.resource_name
    held = early_controllers.held(kind, name, context)
    new = dict(held)
    for config in {config.name: config for config in resource.configs}.values():
        value = _value(kind, config, held, context)
        if value is None:
            new.pop(config.name, None)
        else:
            new[config.name] = value
    early_controllers.check(kind, new, context)
    if not validate_only:
        early_controllers.store(kind, name, new, context)


def _value(
    kind: int, config: AlterableConfig, held: Mapping[str, str], context: RequestContext
) -> str | None:
    """Return the new value of a setting; None: not set."""
    match config.config_operation:
        case ConfigOperation.SET:
            return config.value
        case ConfigOperation.DELETE:
            if config.value is not None and context.facts.configs.config_delete_rejects_value:
                raise ResourceError(ErrorCode.INVALID_REQUEST, "a deletion has no value")
            return None
    definition = context.cluster.configs.definitions_of(kind).get(config.name)
    if definition is None or definition.type != "list":
        raise ResourceError(ErrorCode.INVALID_CONFIG, f"{config.name} is not a list")
    before = held.get(config.name)
    parts = [part for part in (before or definition.default or "").split(",") if part]
    element = NULL if config.value is None else config.value
    if config.config_operation == ConfigOperation.APPEND:
        return ",".join(parts if element in parts else [*parts, element])
    if config.value not in parts:
        return before
    parts.remove(element)
    return ",".join(parts)
