"""Altering the levels of a broker's own loggers (KIP-412)."""

from kafka_shim.authorizer.requirements import INCREMENTAL_ALTER_CONFIGS_CLUSTER
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)
from kafka_shim.shim.handlers.common.config_access import require_config
from kafka_shim.shim.handlers.common.config_operations import ConfigOperation
from kafka_shim.shim.handlers.common.config_resources import ResourceError, broker_of
from kafka_shim.shim.request.context import RequestContext

LEVELS = frozenset({"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"})


def alter_loggers(
    resource: AlterConfigsResource, context: RequestContext, *, validate_only: bool
) -> None:
    """Set or reset levels of loggers; ResourceError for an invalid change."""
    name = resource.resource_name
    require_config(context, INCREMENTAL_ALTER_CONFIGS_CLUSTER, name, is_said=False)
    node_id = broker_of(name, context, may_be_all=False)
    assert node_id is not None
    levels = dict(context.cluster.configs.loggers.get(node_id, {}))
    for config in resource.configs:
        _check_logger(config, context)
        if config.config_operation == ConfigOperation.DELETE:
            levels.pop(config.name, None)
        else:
            levels[config.name] = config.value or ""
    if not validate_only:
        context.cluster.configs.loggers[node_id] = levels


def _check_logger(config: AlterableConfig, context: RequestContext) -> None:
    if config.config_operation not in (ConfigOperation.SET, ConfigOperation.DELETE):
        raise ResourceError(ErrorCode.INVALID_REQUEST, "the level of a logger is not a list")
    if config.name not in context.cluster.configs.known_loggers:
        raise ResourceError(ErrorCode.INVALID_CONFIG, f"unknown logger `{config.name}`")
    if config.config_operation == ConfigOperation.DELETE:
        if config.name == "root":
            raise ResourceError(
                ErrorCode.INVALID_REQUEST, "the level of the root logger cannot be removed"
            )
    elif config.value not in LEVELS:
        message = f"`{config.value}` is no level: {', '.join(sorted(LEVELS))} are"
        raise ResourceError(ErrorCode.INVALID_CONFIG, message)
