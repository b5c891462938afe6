"""The command line: one module per command, imported only when that command runs."""

import argparse
import gc
import importlib
import io
import itertools
import os
import sys
from collections.abc import Collection, Sequence
from typing import Protocol, cast

from kafka_shim.cli.command_parser import (
    EXIT_USAGE as EXIT_USAGE,
    CommandParser,
    OverviewParser,
    ShowTextAction,
    license_text,
    version_text,
)
from kafka_shim.cli.error_output import (
    error_text_with_location,
    print_command_error,
    print_command_errors_limited,
)
from kafka_shim.shim.errors import ConfigError, UnavailableError
from kafka_shim.text.extras import HOME
from kafka_shim.text.input_files import is_utf8
from kafka_shim.text.message_text import sanitize_message

EXIT_FAILURE = 1
EXIT_MISMATCH = 3
"""An assertion, comparison or conformance check did not hold."""

COMMANDS = {
    "serve": "Start a broker and keep it running",
    "run": "Start a broker, run a command against it, return its exit code",
    "acls": "List, add and remove ACLs, as kafka-acls does",
    "explain": "Explain why an access is allowed or denied, and what would allow it",
    "who-can": "List who has access to a resource, and by which ACL",
    "policy": "Test, compare, review and apply ACLs that are kept in files",
    "mcp": "Answer an AI assistant's questions about ACLs (Model Context Protocol)",
    "principal": "Test ssl.principal.mapping.rules against certificate subjects",
    "proxy": "Record what clients do on a real cluster, as a trace",
    "replay": "Send the requests of a trace to a broker and compare its responses",
    "conformance": "Score how well a client follows the Kafka protocol",
    "vectors": "Compare a broker with what real brokers answered about permissions",
    "least-acls": "Run a program to find the fewest ACLs that it needs",
    "trace": "Summarise, print, search, import and export traces",
    "requirements": "List the permissions that each API needs, by release",
    "pipeline": "Analyse traces: what an ACL change would break, unused ACLs, least ACLs",
    "completion": "Print a completion script for bash, zsh or fish",
}


_FILE_NAME_ERRORS = (FileNotFoundError, FileExistsError, NotADirectoryError, IsADirectoryError)
"""Errors of file names that the user gave: exit code 2."""


class CommandModule(Protocol):
    """A command module."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...
    def run(self, args: argparse.Namespace) -> int: ...


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of `kafka-shim`; returns the exit code."""
    _replace_closed_streams()
    _use_utf8()
    try:
        return _run_reporting_errors(
            _parse_command_line(list(sys.argv[1:] if argv is None else argv))
        )
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of a help text has closed it, such as `head`
        _discard_unwritable_output()
        return 0


def _replace_closed_streams() -> None:
    """Use the null device for standard streams that are closed, as after `2>&-`.

    Otherwise, the next opened files have their numbers, and get what is written to them.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)
            stream = open(descriptor, "r" if name == "stdin" else "w", encoding="utf-8")  # noqa: PTH123, SIM115 - a descriptor, until the end
            setattr(sys, name, stream)


def _use_utf8() -> None:
    """Use UTF-8 for standard input and output, also in pipes and in any locale."""
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")


def _parse_command_line(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the words; exit with one line about the first error."""
    _require_utf8(arguments)
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    command_name = next((word for word in arguments if word in COMMANDS), None)
    parser = (
        build_command_line_parser(COMMANDS, ())
        if command_name is None
        else build_command_line_parser([command_name], [command_name], arguments)
    )
    args, unknown = parser.parse_known_args(arguments)
    args.arguments = arguments
    if unknown:
        args.reject_unknown_words(unknown)
    if args.command is None:
        parser.print_help()
        parser.exit(EXIT_USAGE)
    return args


def _require_utf8(arguments: Sequence[str]) -> None:
    """Exit if a word before `--` is not UTF-8: no file or response can hold it."""
    for word in itertools.takewhile(lambda word: word != "--", arguments):
        if not is_utf8(word):
            print(
                f"kafka-shim: the argument {sanitize_message(repr(word))} is not UTF-8",
                file=sys.stderr,
            )
            raise SystemExit(EXIT_USAGE)


def build_command_line_parser(
    command_names: Collection[str],
    commands_with_options: Collection[str],
    words: Sequence[str] | None = None,
) -> CommandParser:
    """Return a parser of the known commands; it takes the options of those that are loaded.

    `words` are those that it will parse; options of other sub-commands may be missing.
    """
    parser = OverviewParser(
        prog="kafka-shim",
        description="A Kafka broker for tests that decides permissions exactly as Apache Kafka"
        " does",
        epilog="In a clone, `make run` starts a demo broker and shows a denied client, and why.\n"
        "`kafka-shim help COMMAND` shows the options of a command, with examples.\n"
        "`kafka-shim --version` and `--licenses` print the version and the licenses.\n"
        f"Pages named docs/... are at {HOME}",
    )
    parser.add_argument(
        "--version", action=ShowTextAction, text=version_text, help="Print the version and exit"
    )
    parser.add_argument(
        "--licenses",
        action=ShowTextAction,
        text=license_text,
        help="Print the licenses of kafka-shim, and of all that the single file contains, and exit",
    )
    # `prog` avoids that argparse finds out the terminal's width, which is slow
    subparsers = parser.add_subparsers(
        dest="command", metavar="COMMAND", prog=parser.prog, parser_class=CommandParser
    )
    for name in command_names:
        summary = COMMANDS[name]
        subparser = subparsers.add_parser(name, help=summary, description=summary)
        subparser.words = words
        if name in commands_with_options:
            import_command_module(name).add_arguments(subparser)
    return parser


def _run_reporting_errors(args: argparse.Namespace) -> int:
    """Run the command and return its exit code; report system errors in one line."""
    try:
        code = import_command_module(args.command).run(args)
        sys.stdout.flush()
    except ConfigError as error:
        several = error.messages if len(error.messages) > 1 else ()
        print_command_errors_limited(args, several or [error_text_with_location(args, error)])
        return EXIT_FAILURE if isinstance(error, UnavailableError) else EXIT_USAGE
    except BrokenPipeError:  # the reader of the output has closed it, such as `head`
        _discard_unwritable_output()
        return 0
    except OSError as error:  # a file, or the output itself, cannot be read or written
        place = "" if error.filename is None else f"`{error.filename}`: "
        print_command_error(args, f"{place}{error.strerror or error}")
        _discard_unwritable_output()
        return EXIT_USAGE if isinstance(error, _FILE_NAME_ERRORS) else EXIT_FAILURE
    else:
        return code


def _discard_unwritable_output() -> None:
    """Discard output that cannot be written, so that the interpreter does not try again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def import_command_module(name: str) -> CommandModule:
    module_name = f"kafka_shim.cli.{name.replace('-', '_')}"
    if module_name not in sys.modules:
        _import_without_gc(module_name)
    return cast("CommandModule", sys.modules[module_name])


def _import_without_gc(module_name: str) -> None:
    """Import a module without collections: they take 5 % of a start and find next to nothing."""
    gc.disable()
    try:
        importlib.import_module(module_name)
    finally:
        gc.freeze()
        gc.enable()
