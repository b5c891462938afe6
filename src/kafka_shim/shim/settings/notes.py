"""Print notes about a configuration on standard error."""

import sys

from kafka_shim.text.message_text import safe_text


def print_note(text: str) -> None:
    """Print a note in the form of the command line's errors."""
    sys.stderr.write(f"kafka-shim: note: {safe_text(text)}\n")
