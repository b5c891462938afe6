"""What IncrementalAlterConfigs can do to a setting (KIP-339)."""

from enum import IntEnum

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.incremental_alter_configs_request import AlterConfigsResource
from kafka_shim.shim.handlers.common.config_resources import ResourceError


class ConfigOperation(IntEnum):
    """What happens to one setting."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


OPERATIONS = frozenset(ConfigOperation)


def check_operations(
    resource: AlterConfigsResource,
    error: ErrorCode = ErrorCode.UNKNOWN_SERVER_ERROR,
    message: str | None = None,
) -> None:
    """Raise ResourceError for an operation that Kafka does not know; `message` is the error's if it
    is UNKNOWN_SERVER_ERROR (-1).
    """
    for config in resource.configs:
        if config.config_operation not in OPERATIONS:
            is_told = error is not ErrorCode.UNKNOWN_SERVER_ERROR
            text = f"operation {config.config_operation} is unknown" if is_told else message
            raise ResourceError(error, text)
