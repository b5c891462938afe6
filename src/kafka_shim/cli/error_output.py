"""Print errors and notes on standard error, in one form: `kafka-shim COMMAND: text`."""

import argparse
import sys
from collections.abc import Sequence
from typing import Final

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
