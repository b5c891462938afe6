"""Print errors and notes on standard error, in one form: `kafka-shim COMMAND: text`."""

import argparse
import sys

from kafka_shim.authorizer.message_text import shortened_and_escaped


def print_command_error(args: argparse.Namespace, text: str) -> None:
    """Print an error with the name of the command that was called."""
    print(f"{args.program}: {shortened_and_escaped(text)}", file=sys.stderr)


def print_note(text: str) -> None:
    print(f"kafka-shim: note: {shortened_and_escaped(text)}", file=sys.stderr)
