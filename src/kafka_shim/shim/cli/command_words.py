"""A command given as the value of an option, split as a shell would."""

import shlex

from kafka_shim.shim.errors import ConfigError


def words_of(command: str, option: str) -> list[str]:
    """Return the program and its arguments; ConfigError for a command that cannot be split."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ConfigError(f"{option} `{command}`: {str(error).lower()}") from error
    if not words:
        raise ConfigError(f"{option} is empty: expected a program and its arguments")
    return words
