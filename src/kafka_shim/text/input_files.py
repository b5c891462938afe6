"""Read the texts of files that the user names."""

import sys
from pathlib import Path

from kafka_shim.text.input_errors import ConfigError, InputError
from kafka_shim.text.valid_text import not_utf8_message


def read_text_file(path: str, option: str) -> str:
    """Return the text of a file, or of standard input for `-`. Raise ConfigError if unreadable."""
    try:
        return sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{option} {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{option} {path}: {not_utf8_message(error)}") from error


def read_text_without_bom(path: str) -> str:
    """Return the text of a file, or of standard input for `-`. Raise InputError if unreadable."""
    try:
        return read_text_file(path, "").removeprefix("\ufeff")
    except ConfigError as error:
        raise InputError(str(error).strip()) from error
