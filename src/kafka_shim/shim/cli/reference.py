"""The reference of all commands as Markdown: run `python -m kafka_shim.shim.cli.reference`."""

import argparse
import os
from collections.abc import Iterator

from kafka_shim.shim.cli import COMMANDS, import_command_module
from kafka_shim.shim.cli.command_parser import CommandParser

WIDTH = 96

INTRODUCTION = """# Commands

The `--help` of every command. Do not edit this page: `python -m kafka_shim.shim.cli.reference`
prints it.

All commands have the same exit codes:

| code | meaning |
|---|---|
| 0 | success |
| 1 | failure: for example, a port is in use, a broker refuses a request, or the disk is full |
| 2 | usage error: an option or a file is invalid, or needs an extra that is not installed |
| 3 | an expectation, a comparison or a check did not hold |

Input and output are UTF-8 in every locale. `kafka-shim --version` prints the first and the last
Kafka release that can be emulated.
"""


def commands_page_markdown() -> str:
    """Return docs/reference/commands.md: the help of every command."""
    os.environ["COLUMNS"] = str(WIDTH)  # argparse wraps at the terminal's width
    parts = [INTRODUCTION]
    for name, summary in COMMANDS.items():
        parser = CommandParser(prog=f"kafka-shim {name}", description=summary)
        import_command_module(name).add_arguments(parser)
        parts.append(f"\n## {name}\n\n```\n{parser.format_help()}```\n")
        parts += [f"\n```\n{text}```\n" for text in _help_texts_of_direct_subcommands(parser)]
    return "".join(parts)


def _help_texts_of_direct_subcommands(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the help of sub-commands, such as `trace info`."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb in action.choices.values():
                yield verb.format_help()


if __name__ == "__main__":
    print(commands_page_markdown(), end="")
