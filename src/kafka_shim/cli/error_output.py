"""Print errors and notes on standard error, in one form: `kafka-shim COMMAND: text`.

Errors that are found after the files were read get the file and line.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import Final

from kafka_shim.shim.errors import ConfigError, InitialStateError
from kafka_shim.text.message_text import sanitize_message

ERRORS_MAX: Final = 20
"""Errors in files that one run reports."""


def print_command_error(args: argparse.Namespace, text: str) -> None:
    """Print an error with the name of the command that was called."""
    print(f"{args.program}: {sanitize_message(text)}", file=sys.stderr)


def print_command_errors_limited(args: argparse.Namespace, texts: Sequence[str]) -> None:
    """Print at most ERRORS_MAX errors, and how many there are besides."""
    for text in texts[:ERRORS_MAX]:
        print_command_error(args, text)
    if len(texts) > ERRORS_MAX:
        print_command_error(args, f"and {len(texts) - ERRORS_MAX} more")


def error_text_with_location(args: argparse.Namespace, error: ConfigError) -> str:
    """Return the text of an error, with the file and line that it is about, if it is about one."""
    if isinstance(error, InitialStateError):
        return f"{_location_prefix(args, error.key_path)}{error}"
    locations = getattr(args, "setting_locations", None)
    return str(error) if locations is None else str(locations.add_location(str(error)))


def _location_prefix(args: argparse.Namespace, key_path: tuple[object, ...]) -> str:
    """Return `--state FILE: line N: ` or the like; nothing for an object of the command line.

    Files are read again: the error is rare, and objects do not know their lines.
    """
    if args.state is not None:
        from kafka_shim.shim.settings.state_file import line_of_object_in_state_file

        line = line_of_object_in_state_file(args.state, key_path)
        if line:
            return f"--state {args.state}: line {line}: "
    if key_path[0] == "acls" and args.acls not in (None, "-"):
        from kafka_shim.shim.settings.input_files import read_acl_file_with_lines

        for acl, line in read_acl_file_with_lines(args.acls):
            if acl == key_path[1]:
                return f"--acls {args.acls}: line {line}: "
    return ""
