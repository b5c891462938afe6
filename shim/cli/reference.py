"""The reference of all commands as Markdown: run `python -m kafka_shim.shim.cli.reference`."""

import argparse
import os
from collections.abc import Iterator

from kafka_shim.shim.cli import COMMANDS, load_command
from kafka_shim.shim.cli.command_parser import CommandParser

WIDTH = 96

INTRODUCTION = """# Commands

Made from the program by `python -m kafka_shim.shim.cli.reference`. Exit codes: 0 success, 1 failure
(a port in use, a broker that refuses, a full disk), 2 usage error (an option, a file or its content
that cannot be used), 3 an assertion, comparison or check that did not hold. Pipes and files are
UTF-8 in every locale. `kafka-shim --version` prints the Kafka releases that can be emulated.
"""


def reference() -> str:
    """Return docs/commands.md: the help of every command."""
    os.environ["COLUMNS"] = str(WIDTH)  # argparse wraps at the terminal's width
    parts = [INTRODUCTION]
    for name, summary in COMMANDS.items():
        parser = CommandParser(prog=f"kafka-shim {name}", description=summary)
        load_command(name).add_arguments(parser)
        parts.append(f"\n## {name}\n\n```\n{parser.format_help()}```\n")
        parts += [f"\n```\n{text}```\n" for text in _verbs(parser)]
    return "".join(parts)


def _verbs(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the help of sub-commands, such as `trace info`."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb in action.choices.values():
                yield verb.format_help()


if __name__ == "__main__":
    print(reference(), end="")
