"""Print errors and notes on standard error, in one form: `kafka-shim COMMAND: text`."""

import argparse
import re
import sys
from typing import Final

VALUE_MAX: Final = 80
"""Characters that a message repeats of a value between backticks, unless it has a path."""
WORD_MAX: Final = 300
"""Characters that a message repeats of a path, or of a word without spaces."""

_VALUE: Final = re.compile(rf"`(?:([^`/\\]{{{VALUE_MAX}}})[^`/\\]+|([^`]{{{WORD_MAX}}})[^`]+)`")
_WORD: Final = re.compile(rf"(\S{{{WORD_MAX}}})\S+")


def _truncate_quoted_value(match: re.Match[str]) -> str:
    return f"`{match[1] or match[2]}…`"


def print_command_error(args: argparse.Namespace, text: str) -> None:
    """Print an error with the name of the command that was called."""
    print(f"{args.program}: {shortened_and_escaped(text)}", file=sys.stderr)


def print_note(text: str) -> None:
    print(f"kafka-shim: note: {shortened_and_escaped(text)}", file=sys.stderr)


def shortened_and_escaped(text: str) -> str:
    """Return a message with long values cut, and with control characters, line breaks and
    surrogates escaped.
    """
    shorter = _WORD.sub(r"\1…", _VALUE.sub(_truncate_quoted_value, text))
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in shorter
    )
