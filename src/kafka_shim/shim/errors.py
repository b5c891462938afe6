"""How a request or a start can end other than with an ordinary response."""

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.text.input_files import ConfigError as ConfigError  # noqa: PLC0414 - for the rooms of the broker


class InitialStateError(ConfigError):
    """An object of the initial state cannot be created.

    `key_path` names the object as in a state file, such as ("topics", "orders").
    """

    def __init__(self, text: str, *key_path: object) -> None:
        super().__init__(text)
        self.key_path = key_path


class UnavailableError(ConfigError):
    """A resource of the configuration, such as a port, is in use or unreachable."""


class RequestRejected(Exception):  # noqa: N818 - an outcome, not an error
    """The response to the whole request is this error, in the shape of its API."""

    def __init__(self, error: ErrorCode, message: str | None = None) -> None:
        super().__init__(error.name if message is None else message)
        self.error = error
        self.message = message


class CloseConnection(Exception):  # noqa: N818 - an outcome, not an error
    """The connection is closed without a response, as Kafka does for requests it cannot parse.

    `last_bytes` are sent before (only an injected fault has any).
    """

    def __init__(self, reason: str, last_bytes: bytes = b"") -> None:
        super().__init__(reason)
        self.reason = reason
        self.last_bytes = last_bytes
