"""The reference of all commands as Markdown: `python -m shim.cli.reference > docs/commands.md`."""

import argparse
import os
from collections.abc import Iterator

from kafka_shim.shim.cli import COMMANDS, load_command
from kafka_shim.shim.cli.command_parser import CommandParser

WIDTH = 96

INTRODUCTION = """# Commands

Made from the program by `python -m shim.cli.reference`. Exit codes: 0 ok, 1 failure (also where
a value cannot be used: a port in use, a file that is not there), 2 wrong usage (options that there
are not, or that do not go together), 3 an assertion, comparison or check that did not hold. What
goes through pipes and files is UTF-8, whatever the locale. `kafka-shim --version` names the
releases that this one knows.
"""


def reference() -> str:
    """What docs/commands.md says: every command with its own help."""
    os.environ["COLUMNS"] = str(WIDTH)  # argparse wraps at the terminal's width
    parts = [INTRODUCTION]
    for name, summary in COMMANDS.items():
        parser = CommandParser(prog=f"kafka-shim {name}", description=summary)
        load_command(name).add_arguments(parser)
        parts.append(f"\n## {name}\n\n```\n{parser.format_help()}```\n")
        parts += [f"\n```\n{text}```\n" for text in _verbs(parser)]
    return "".join(parts)


def _verbs(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Help of sub-commands, such as `trace info`."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb in action.choices.values():
                yield verb.format_help()


if __name__ == "__main__":
    print(reference(), end="")
