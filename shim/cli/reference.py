"""The reference of all commands as Markdown: `python -m shim.cli.reference > docs/commands.md`."""

import argparse
import os
from collections.abc import Iterator

from shim.cli import COMMANDS, load_command

WIDTH = 96


def reference() -> str:
    """What docs/commands.md says: every command with its own help."""
    os.environ["COLUMNS"] = str(WIDTH)  # argparse wraps at the terminal's width
    parts = [
        "# Commands\n\nMade from the program by `python -m shim.cli.reference`; exit codes: 0 ok, "
        "1 failure, 2 wrong usage,\n3 an assertion, comparison or check that did not hold.\n"
    ]
    for name, summary in COMMANDS.items():
        parser = argparse.ArgumentParser(prog=f"kafka-shim {name}", description=summary)
        load_command(name).add_arguments(parser)
        parts.append(f"\n## {name}\n\n```\n{parser.format_help()}```\n")
        parts += [f"\n```\n{text}```\n" for text in _verbs(parser)]
    return "".join(parts)


def _verbs(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Help of sub-commands, such as `trace info`."""
    for action in parser._actions:  # noqa: SLF001 - argparse has no public way to them
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - as above
            for verb in action.choices.values():
                yield verb.format_help()


if __name__ == "__main__":
    print(reference(), end="")
