"""Names of codes for people; unknown codes are shown as numbers. APIs by their names."""

from enum import IntEnum
from typing import TypeVar

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode

E = TypeVar("E", bound=IntEnum)
_API_KEYS = {key.wire_name.lower(): key for key in ApiKey}


def api_key_by_name(name: str) -> ApiKey | None:
    """Return the API with this name, such as `DescribeAcls` or `DESCRIBE_ACLS`; None if unknown."""
    return _API_KEYS.get(name.replace("_", "").lower())


def api_name_or_key(key: int) -> str:
    """Return Kafka's name of an API; the key if it is unknown."""
    try:
        return ApiKey(key).wire_name
    except ValueError:
        return str(key)


def enum_member(enum: type[E], code: int) -> E:
    """Return the member with this code; UNKNOWN (0) for an unknown code."""
    try:
        return enum(code)
    except ValueError:
        return enum(0)


def error_name(code: int) -> str:
    """Return Kafka's name of an error; the code if it is unknown."""
    try:
        return ErrorCode(code).name
    except ValueError:
        return str(code)


def error_name_with_code(code: int) -> str:
    """Return `INVALID_REQUEST (42)`; `error 9999` if the code is unknown."""
    try:
        return f"{ErrorCode(code).name} ({code})"
    except ValueError:
        return f"error {code}"
