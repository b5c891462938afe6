"""The command line: one module a command, imported only when it is the one asked for."""

import argparse
import importlib
import io
import os
import sys
from collections.abc import Collection, Sequence
from typing import Protocol, cast

from kafka_shim.shim.cli.command_parser import EXIT_USAGE as EXIT_USAGE, CommandParser, ShowVersion
from kafka_shim.shim.errors import ConfigError, UnavailableError

EXIT_FAILURE = 1
EXIT_MISMATCH = 3
"""An assertion, comparison or conformance check did not hold."""

COMMANDS = {
    "serve": "start a broker and keep it running",
    "run": "start a broker, run a command against it, return its exit code",
    "acls": "list, add and remove ACLs, as kafka-acls does",
    "explain": "tell why an access is allowed or denied, and what would allow it",
    "who-can": "list who may do something, and by which ACL",
    "policy": "compare, test, check and apply ACLs that are kept in files",
    "principal": "test ssl.principal.mapping.rules against certificate subjects",
    "proxy": "record what clients do on a real cluster",
    "replay": "send a recorded run to a broker and compare the answers",
    "conformance": "score what a client does on the wire",
    "least-acls": "find the ACLs that a program needs by running it, and prove that they suffice",
    "trace": "summarise, print, search, import and export traces",
    "requirements": "list the permissions that each API needs, by release",
    "pipeline": "analyse traces on Spark: what an ACL change would break, unused ACLs, least ACLs",
    "completion": "print a shell's completion script",
}


_WRONG_PLACES = (FileNotFoundError, FileExistsError, NotADirectoryError, IsADirectoryError)
"""Files and folders that were named, and cannot be what they were named for."""


class Command(Protocol):
    """A command module: its options, and what it does."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...
    def run(self, args: argparse.Namespace) -> int: ...


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of `kafka-shim`; returns the exit code."""
    _speak_utf8()
    try:
        return _run(_parsed(list(sys.argv[1:] if argv is None else argv)))
    except KeyboardInterrupt:
        return 130


def _speak_utf8() -> None:
    """ACLs and names are UTF-8 in pipes as they are in files, whatever the locale says."""
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")


def _parsed(words: Sequence[str]) -> argparse.Namespace:
    """The options of the command that is asked for; exits with a line on what is wrong."""
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    asked = next((word for word in words if word in COMMANDS), None)
    parser = command_line(COMMANDS, []) if asked is None else command_line([asked], [asked])
    args, unknown = parser.parse_known_args(words)
    if unknown:
        args.refuse(unknown)
    if args.command is None:
        parser.print_help()
        parser.exit(EXIT_USAGE)
    return args


def command_line(known: Collection[str], loaded: Collection[str]) -> CommandParser:
    """Return a parser of the known commands; it takes the options of those that are loaded."""
    parser = CommandParser(
        prog="kafka-shim", description="a Kafka broker for tests, exact about permissions"
    )
    parser.add_argument("--version", action=ShowVersion, help="print the version and exit")
    # with `prog`, argparse need not look at the width of the terminal, which takes a while
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", prog=parser.prog)
    for name in known:
        summary = COMMANDS[name]
        subparser = subparsers.add_parser(name, help=summary, description=summary)
        if name in loaded:
            load_command(name).add_arguments(subparser)
    return parser


def _run(args: argparse.Namespace) -> int:
    """The command's exit code; what the surroundings do wrong is a line and a code."""
    try:
        code = load_command(args.command).run(args)
        sys.stdout.flush()
    except ConfigError as error:
        print(f"kafka-shim: {error}", file=sys.stderr)
        return EXIT_FAILURE if isinstance(error, UnavailableError) else EXIT_USAGE
    except BrokenPipeError:  # whoever read our output has seen enough, as in `... | head`
        _drop_output()
        return 0
    except OSError as error:  # a file, or the output itself, cannot be read or written
        place = "" if error.filename is None else f"`{error.filename}`: "
        print(f"kafka-shim {args.command}: {place}{error.strerror or error}", file=sys.stderr)
        _drop_output()
        return EXIT_USAGE if isinstance(error, _WRONG_PLACES) else EXIT_FAILURE
    else:
        return code


def _drop_output() -> None:
    """What cannot be written of what was printed is not tried again at the very end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def load_command(name: str) -> Command:
    module = importlib.import_module(f"kafka_shim.shim.cli.{name.replace('-', '_')}")
    return cast("Command", module)
