"""The error for files that cannot be used."""

from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.input_files import read_text_file


class InputError(ConfigError):
    """Errors in files; each message begins with the path and, if known, the line."""

    def __init__(self, *messages: str) -> None:
        self._messages = tuple(" ".join(message.split()) for message in messages)
        super().__init__("\n".join(self._messages))

    @property
    def messages(self) -> tuple[str, ...]:
        return self._messages


def file_and_line(path: str, line: int) -> str:
    """Return a place such as `acls.yaml:3`."""
    return f"{path}:{line}" if line else path


def read_text_without_bom(path: str) -> str:
    try:
        return read_text_file(path, "").removeprefix("\ufeff")
    except ConfigError as error:
        raise InputError(str(error).strip()) from error
