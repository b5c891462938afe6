"""The manual page of all commands: `python -m kafka_shim.cli.man_page > docs/kafka-shim.1`."""

from importlib.metadata import version

from kafka_shim.cli import COMMANDS, build_command_line_parser
from kafka_shim.cli.command_parser import iter_commands
from kafka_shim.cli.help_examples import examples_section


def man_page() -> str:
    """Return the page in roff, as `man` reads it."""
    from argparse_manpage.manpage import Manpage  # type: ignore[import-untyped]

    parser = build_command_line_parser(COMMANDS, COMMANDS)
    for command in iter_commands(parser):
        examples = examples_section(command.prog)
        if examples is not None:  # the formatter omits epilogs of sub-commands
            command.description = f"{command.description}\n\n{examples}"
    number = version("kafka-shim")
    head = {"project_name": "kafka-shim", "version": number, "date": f"version {number}"}
    title = {"manual_title": "kafka-shim", "description": parser.description}
    return f"{Manpage(parser, head | title)}\n"


if __name__ == "__main__":
    print(man_page(), end="")
