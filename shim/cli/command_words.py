"""A command in an option, as a shell would split it."""

import shlex

from kafka_shim.shim.errors import ConfigError


def words_of(command: str, option: str) -> list[str]:
    """The program and its arguments; ConfigError if that cannot be."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ConfigError(f"{option} `{command}`: {str(error).lower()}") from error
    if not words:
        raise ConfigError(f"{option} is empty: expected a program and its arguments")
    return words
