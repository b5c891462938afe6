"""What DescribeConfigs and the altering APIs share: the kinds of resources and their names."""

from collections.abc import Sequence
from enum import IntEnum

from kafka_shim.authorizer.requirement import Requirement
from kafka_shim.authorizer.requirements import METADATA_TOPIC
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.messages.incremental_alter_configs import AlterableConfig
from kafka_shim.shim.request.context import RequestContext


class ConfigResourceError(Exception):
    """Why one resource cannot be described or altered."""

    def __init__(self, error: ErrorCode, message: str | None) -> None:
        super().__init__(message)
        self.error = error
        self.message = message


def unalterable_type_error(resource_type: int) -> ConfigResourceError:
    """Return the error for a type whose settings cannot be altered."""
    message = f"resource type {resource_type} cannot be altered"
    return ConfigResourceError(ErrorCode.INVALID_REQUEST, message)


def check_not_duplicated(count: int) -> None:
    """Raise ConfigResourceError for a resource that a request names more than once."""
    if count > 1:
        raise ConfigResourceError(ErrorCode.INVALID_REQUEST, "duplicate resource")


def is_describable_type(resource_type: int, context: RequestContext) -> bool:
    """Return whether resources of this type have settings in the emulated release."""
    return resource_type in context.facts.configs.describable_config_resource_types


def resource_type_in_error(resource_type: int, context: RequestContext) -> int:
    """Return the type in an error; older brokers return 0 for unknown types."""
    echoed = context.facts.configs.config_errors_echo_resource_types
    return resource_type if echoed is None or resource_type in echoed else 0


def resource_type_in_alter_response(resource_type: int, context: RequestContext) -> int:
    """Return the type in a response of AlterConfigs."""
    if context.facts.configs.alter_configs_echoes_unknown_types:
        return resource_type
    return resource_type_in_error(resource_type, context)


def parse_id_of_this_broker(name: str, context: RequestContext, *, may_be_all: bool) -> int | None:
    """Return the broker id in a resource name; None: all brokers.

    Raise ConfigResourceError if it is not a number, or another broker's.
    """
    if not name and may_be_all:
        return None
    try:
        node_id = int(name)
    except ValueError:
        message = f"broker id `{name}` is not a number"
        raise ConfigResourceError(ErrorCode.INVALID_REQUEST, message) from None
    if node_id != context.node_id:
        message = f"this is broker {context.node_id}, not {node_id}"
        raise ConfigResourceError(ErrorCode.INVALID_REQUEST, message)
    return node_id


def config_access_error(context: RequestContext, requirement: Requirement, name: str) -> ErrorCode:
    """Return NONE or the denial; existence is not checked.

    In 0.11, a resource without DESCRIBE is hidden: the denial is UNKNOWN_TOPIC_OR_PARTITION.
    """
    context.access.forget_cluster_checks()  # a check for each resource
    error = context.access.denial_error(requirement, name)
    if error is NO_ERROR:
        return error
    hidden_as = context.cluster.policy.bind(requirement).hidden_as
    if hidden_as is not None and not context.access.allows(METADATA_TOPIC, name):
        return hidden_as
    return error


def require_config_access(
    context: RequestContext, requirement: Requirement, name: str, *, has_message: bool = True
) -> None:
    """Raise ConfigResourceError for a denied alteration; some releases do not name the resource."""
    error = config_access_error(context, requirement, name)
    if error is not NO_ERROR:
        text = error.name.lower().replace("_", " ")
        raise ConfigResourceError(
            error,
            text
            if has_message and context.facts.configs.denied_alter_configs_has_message
            else None,
        )


def authorize_broker_early(context: RequestContext, requirement: Requirement, name: str) -> None:
    """Check the permission to alter a broker before its settings, in releases that do so."""
    if context.facts.configs.alter_broker_configs_checks_permission_first:
        require_config_access(context, requirement, name, has_message=False)


class ConfigOperation(IntEnum):
    """What happens to one setting."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


OPERATIONS = frozenset(ConfigOperation)


def check_operation_codes(
    configs: Sequence[AlterableConfig], error: ErrorCode = ErrorCode.UNKNOWN_SERVER_ERROR
) -> None:
    """Raise ConfigResourceError for an operation that Kafka does not know."""
    for config in configs:
        if config.config_operation not in OPERATIONS:
            has_message = error is not ErrorCode.UNKNOWN_SERVER_ERROR
            text = f"operation {config.config_operation} is unknown" if has_message else None
            raise ConfigResourceError(error, text)
