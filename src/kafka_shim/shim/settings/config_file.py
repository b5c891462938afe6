"""`--config FILE`: the options of a command from YAML or TOML, or a server.properties.

A YAML or TOML file has the options' names as keys. It is turned into command-line words, so that
it supports the same options with the same checks.
"""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.policy.formats.documents import MappingWithLines
from kafka_shim.policy.formats.toml_documents import lines_of_toml_key, load_toml
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.input_files import parse_yaml_with_lines
from kafka_shim.shim.settings.java_properties import read_properties_file
from kafka_shim.shim.settings.option_arguments import RaisingOptionParser
from kafka_shim.shim.settings.options import OPTIONS, Place
from kafka_shim.text.input_files import read_text_file
from kafka_shim.text.option_parser import did_you_mean_text


class ConfigFileContent(msgspec.Struct, frozen=True):
    """Parsed options (.yaml, .toml), or broker settings (.properties).

    `line_of_setting` returns the line of a broker setting, 0 if unknown.
    """

    options: argparse.Namespace | None
    properties: Mapping[str, str]
    line_of_setting: Callable[[str], int]


def read_config_file(path: str, parser: argparse.ArgumentParser) -> ConfigFileContent:
    """Read the file with the options of `parser`. Raise ConfigError, which names the invalid key or
    value, if that fails.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".properties":
        properties = read_properties_file(path, "--config")
        return ConfigFileContent(None, properties, lambda name: properties.lines.get(name, 0))
    text = read_text_file(path, "--config")
    locations = _KeyLocations(f"--config {path}", text)
    if suffix == ".toml":
        content = _load_toml(text, locations.file)
    elif suffix in (".yaml", ".yml", ".json"):
        content = parse_yaml_with_lines(text, locations.file)
        locations = _KeyLocations(locations.file, text, content)
    else:
        raise ConfigError(
            f"{locations.file}: unknown file type; expected the ending .yaml, .json, .toml or"
            " .properties"
        )
    if not isinstance(content, Mapping | None):
        raise ConfigError(
            f"{locations.file}: line 1: expected option names with values, as in `brokers: 3`"
        )
    options = _parse_options(content or {}, parser, locations)
    return ConfigFileContent(options, {}, locations.first_line_of_key)


class _KeyLocations:
    """Places of keys in the file, for errors: `--config FILE: line N`.

    `content` is that of YAML, with lines. Keys of TOML are searched in the text.
    """

    def __init__(self, file: str, text: str, content: Any = None) -> None:
        self.file = file
        self._text = text
        self._content = content

    def __getitem__(self, key: object) -> str:
        line = self.first_line_of_key(key)
        return f"{self.file}: line {line}" if line else self.file

    def first_line_of_key(self, key: object) -> int:
        """Return the line of the first such key, also in mappings below; 0 if there is none."""
        if self._content is not None:
            return _first_line_of_nested_key(self._content, key)
        return next(iter(lines_of_toml_key(self._text, str(key))), 0)


def _first_line_of_nested_key(content: Any, key: object) -> int:
    if not isinstance(content, MappingWithLines):
        return 0
    if key in content.lines:
        return content.lines[key]
    return next(
        filter(None, (_first_line_of_nested_key(part, key) for part in content.values())), 0
    )


def _parse_options(
    content: Mapping[str, Any], parser: argparse.ArgumentParser, locations: _KeyLocations
) -> argparse.Namespace:
    """Parse the words of each key. Raise ConfigError, which names the line of the first invalid
    one, if that fails.
    """
    reader = RaisingOptionParser(parents=[parser], add_help=False, allow_abbrev=False)
    known = sorted(option[2:] for option in reader._option_string_actions if option[:2] == "--")
    options = reader.parse_known_args([])[0]
    for key, value in content.items():
        name = str(key).replace("_", "-")
        if name in _command_line_only_options():
            raise ConfigError(f"{locations[key]}: `{key}` cannot be set in a file")
        if name not in known:
            similar = did_you_mean_text(name, known) or "; the keys are the options of the command"
            raise ConfigError(f"{locations[key]}: unknown key `{key}`{similar}")
        try:
            options = reader.parse_args(_option_arguments(key, name, value), options)
        except ConfigError as error:
            raise ConfigError(f"{locations[key]}: {error}") from error
    return options


def _command_line_only_options() -> set[str]:
    """Return options of the command line alone, and those of one letter."""
    others = {option.option[2:] for option in OPTIONS if Place.FILE not in option.places}
    return others | {option.short[1:] for option in OPTIONS if option.short} | {"help", "h"}


def _option_arguments(key: object, option: str, value: Any) -> list[str]:
    """Return the command-line words for a key and its value."""
    if value is None or value is False:
        return []
    if value is True:
        return [f"--{option}"]
    if isinstance(value, Mapping):
        separators = {each.option[2:]: each.separator for each in OPTIONS}
        separator = separators.get(option, "")
        if not separator:
            raise ConfigError(f"`{key}` is a mapping; expected a string, a number or a list")
        value = [f"{left}{separator}{_scalar_text(right, key)}" for left, right in value.items()]
    items = value if isinstance(value, list) else [value]
    return [f"--{option}={_scalar_text(item, key)}" for item in items]


def _scalar_text(value: Any, key: object) -> str:
    """Return the value as text; YAML and TOML also have numbers and booleans."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    kind = "a mapping" if isinstance(value, Mapping) else "a list"
    raise ConfigError(f"invalid value of `{key}`: {kind}; expected a string or a number")


def _load_toml(text: str, where: str) -> Any:
    try:
        return load_toml(text)
    except AclTextError as error:
        raise ConfigError(f"{where}: {error}") from error
