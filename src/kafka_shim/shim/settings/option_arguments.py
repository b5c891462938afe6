"""The options of a broker as arguments of a command."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.options import (
    BROKER_GROUPS,
    BrokerOption,
    Kind,
    Place,
    options_of_place,
)
from kafka_shim.text.option_parser import SuggestingArgumentParser, rewrite_parser_error

if TYPE_CHECKING:
    from pathlib import Path


def parse_path(text: str) -> "Path":
    """Return the path that an option names."""
    from pathlib import Path  # noqa: PLC0415 - its imports take 3 % of a broker's start

    return Path(text)


_SETTINGS_BY_KIND: Final[dict[Kind, dict[str, Any]]] = {
    Kind.INTEGER: {"type": int},
    Kind.NUMBER: {"type": float},
    Kind.PATH: {"type": parse_path},
    Kind.FLAG: {"action": "store_true"},
}


class RaisingOptionParser(SuggestingArgumentParser):
    """Raises ConfigError instead of ending the program."""

    def error(self, message: str) -> NoReturn:
        raise ConfigError(rewrite_parser_error(message))


def add_broker_arguments(parser: argparse.ArgumentParser, first_default_port: int = 0) -> None:
    """Add the options of every command that starts a broker.

    Default listeners get ports from `first_default_port` on (0: free ports).
    """
    parser.set_defaults(first_port=first_default_port, parser=parser)
    add_option_arguments(parser, *BROKER_GROUPS)


def add_option_arguments(parser: argparse.ArgumentParser, *groups: str) -> None:
    """Add the options of the groups, in the order of the table, below the groups' headings."""
    containers = {name: parser.add_argument_group(name) if name else parser for name in groups}
    for option in options_of_place(Place.COMMAND_LINE):
        if option.group in containers:
            add_option_argument(containers[option.group], option)


def add_named_options(container: argparse._ActionsContainer, names: Sequence[str]) -> None:
    """Add some options to a command that has no others of their group."""
    for option in options_of_place(Place.COMMAND_LINE):
        if option.name in names:
            add_option_argument(container, option)


def add_option_argument(container: argparse._ActionsContainer, option: BrokerOption) -> None:
    settings: dict[str, Any] = {"help": option.help, "default": None}
    settings |= _SETTINGS_BY_KIND.get(option.kind, {})
    if option.kind.is_repeatable:
        settings["action"] = "append"
    if option.metavar is not None:
        settings["metavar"] = option.metavar
    if option.choices is not None:
        settings["choices"] = option.choices
    if option.optional_value is not None:
        settings |= {"nargs": "?", "const": option.optional_value}
    container.add_argument(*filter(None, (option.short, option.option)), **settings)
