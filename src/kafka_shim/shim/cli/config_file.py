"""`--config FILE`: the options of a command from YAML or TOML, or a server.properties.

A YAML or TOML file has the options' names as keys. It is turned into command-line words, so that
it supports the same options with the same checks.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from kafka_shim.authorizer.option_parser import OptionParser
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.input_files import load_yaml, read_text
from kafka_shim.shim.settings.properties import read_properties

_PAIRS = {"user": ":", "topic": ":", "listener-principal": "=", "broker-config": "="}
"""Options that can be a mapping in the file, with the separator of their command-line form."""

_NOT_IN_FILES = ("config", "help", "h", "c", "l")


FileContent = tuple[argparse.Namespace | None, Mapping[str, str]]
"""Parsed options (.yaml, .toml), or broker settings (.properties)."""


def read_config_file(path: str, parser: argparse.ArgumentParser) -> FileContent:
    """Read the file with the options of `parser`; ConfigError names the invalid key or value."""
    where = f"--config {path}"
    suffix = Path(path).suffix.lower()
    if suffix == ".properties":
        return None, read_properties(path, "--config")
    if suffix == ".toml":
        content = _load_toml(read_text(path, "--config"), where)
    elif suffix in (".yaml", ".yml", ".json"):
        content = load_yaml(read_text(path, "--config"), where)
    else:
        raise ConfigError(
            f"{where}: unknown file type; expected the ending .yaml, .json, .toml or .properties"
        )
    if not isinstance(content, Mapping | None):
        raise ConfigError(f"{where}: expected option names with values, as in `brokers: 3`")
    words = [word for key, value in (content or {}).items() for word in _words(key, value, where)]
    reader = _FileParser(where, parents=[parser], add_help=False, allow_abbrev=False)
    options, unknown = reader.parse_known_args(words)
    if unknown:
        key = unknown[0].removeprefix("--").partition("=")[0]
        raise ConfigError(f"{where}: unknown key `{key}`; the keys are the options of the command")
    return options, {}


class _FileParser(OptionParser):
    """Raises ConfigError, with the name of the file, instead of ending the program."""

    def __init__(self, where: str, **settings: Any) -> None:
        super().__init__(**settings)
        self._where = where

    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{self._where}: {message}")


def _words(key: object, value: Any, where: str) -> list[str]:
    """Return the command-line words for a key and its value."""
    name = str(key).replace("_", "-")
    if name in _NOT_IN_FILES:
        raise ConfigError(f"{where}: `{key}` cannot be set in a file")
    if value is None or value is False:
        return []
    if value is True:
        return [f"--{name}"]
    if isinstance(value, Mapping):
        if name not in _PAIRS:
            raise ConfigError(
                f"{where}: `{key}` is a mapping; expected a string, a number or a list"
            )
        joint = _PAIRS[name]
        value = [f"{left}{joint}{_plain(right, where, key)}" for left, right in value.items()]
    items = value if isinstance(value, list) else [value]
    return [f"--{name}={_plain(item, where, key)}" for item in items]


def _plain(value: Any, where: str, key: object) -> str:
    """Return the value as text; YAML and TOML also have numbers and booleans."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    raise ConfigError(f"{where}: invalid value `{value}` of `{key}`; expected a string or a number")


def _load_toml(text: str, where: str) -> Any:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{where}: not TOML: {error}") from error
