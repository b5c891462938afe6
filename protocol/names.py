"""Names of codes, for people: a code that is newer than this package has its number."""

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode


def api_text(key: int) -> str:
    """Return Kafka's name of an API; the key alone if it is unknown."""
    try:
        return ApiKey(key).wire_name
    except ValueError:
        return str(key)


def error_name(code: int) -> str:
    """Return Kafka's name of an error; the code alone if it is unknown."""
    try:
        return ErrorCode(code).name
    except ValueError:
        return str(code)


def error_text(code: int) -> str:
    """Return `INVALID_REQUEST (42)`; `error 9999` if the code is unknown."""
    try:
        return f"{ErrorCode(code).name} ({code})"
    except ValueError:
        return f"error {code}"
