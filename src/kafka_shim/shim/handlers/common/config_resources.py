"""What DescribeConfigs and the altering APIs share: the kinds of resources and their names."""

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.request.context import RequestContext


class ResourceError(Exception):
    """Why one resource cannot be described or altered."""

    def __init__(self, error: ErrorCode, message: str | None) -> None:
        super().__init__(message)
        self.error = error
        self.message = message


def not_alterable(resource_type: int) -> ResourceError:
    """Return the error for a type whose settings cannot be altered."""
    message = f"resource type {resource_type} cannot be altered"
    return ResourceError(ErrorCode.INVALID_REQUEST, message)


def check_single(count: int) -> None:
    """Raise ResourceError for a resource that a request names more than once."""
    if count > 1:
        raise ResourceError(ErrorCode.INVALID_REQUEST, "duplicate resource")


def is_known_type(resource_type: int, context: RequestContext) -> bool:
    """Whether resources of this type have settings in the emulated release."""
    return resource_type in context.facts.configs.describable_config_resource_types


def echoed_type(resource_type: int, context: RequestContext) -> int:
    """Return the type in an error; older brokers return 0 for unknown types."""
    echoed = context.facts.configs.config_errors_echo_resource_types
    return resource_type if echoed is None or resource_type in echoed else 0


def altered_type(resource_type: int, context: RequestContext) -> int:
    """Return the type in a response of AlterConfigs."""
    if context.facts.configs.alter_configs_echoes_unknown_types:
        return resource_type
    return echoed_type(resource_type, context)


def broker_of(name: str, context: RequestContext, *, may_be_all: bool) -> int | None:
    """Return the broker of a resource name, which must be this one; None: all of them."""
    if not name and may_be_all:
        return None
    try:
        node_id = int(name)
    except ValueError:
        message = f"broker id `{name}` is not a number"
        raise ResourceError(ErrorCode.INVALID_REQUEST, message) from None
    if node_id != context.node_id:
        message = f"this is broker {context.node_id}, not {node_id}"
        raise ResourceError(ErrorCode.INVALID_REQUEST, message)
    return node_id
