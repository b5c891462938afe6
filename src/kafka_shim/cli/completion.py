"""`kafka-shim completion SHELL`: what a shell needs to complete commands, options and files."""

import argparse
from collections.abc import Iterator
from typing import Final

from kafka_shim.cli import COMMANDS, build_command_line_parser
from kafka_shim.shim.errors import ConfigError
from kafka_shim.text.extras import requires

SHELLS: Final = ("bash", "zsh", "fish")
_FILES: Final = frozenset({"FILE", "PATH", "TRACE", "EXPECTATIONS", "source"})
_FOLDERS: Final = frozenset({"DIR", "FOLDER", "LAKE"})

DESCRIPTION = """\
Print a script that completes commands, options, their values and file names. This requires the
extra `completion`.

  kafka-shim completion bash >> ~/.bashrc
  kafka-shim completion zsh > ~/.zfunc/_kafka-shim
  kafka-shim completion fish > ~/.config/fish/completions/kafka-shim.fish

For zsh, create the folder ~/.zfunc, and write `fpath+=~/.zfunc` into ~/.zshrc, in a line before
`compinit`. Completion begins in the next shell. After an update of kafka-shim, write the script
again: for bash, remove the old one from ~/.bashrc first. There is none for PowerShell.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help="Shell: bash, zsh or fish")


def run(args: argparse.Namespace) -> int:
    try:
        import shtab
    except ImportError as error:
        raise ConfigError(requires("kafka-shim completion", "completion")) from error
    parser = build_command_line_parser(COMMANDS, COMMANDS)
    for action in _iter_arguments(parser):
        name = action.metavar or action.dest
        if name in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif name in _FOLDERS:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    print(shtab.complete(parser, args.shell))
    return 0


def _iter_arguments(
    parser: argparse.ArgumentParser,
) -> Iterator[argparse.Action]:
    """Yield the options and arguments of a command and of its sub-commands."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb in action.choices.values():
                yield from _iter_arguments(verb)
        else:
            yield action
