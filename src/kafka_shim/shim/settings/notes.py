"""Print notes about a configuration on standard error."""

import sys

from kafka_shim.text.message_text import sanitize_message


def print_note(text: str) -> None:
    """Print a note in the form of the command line's errors."""
    sys.stderr.write(f"kafka-shim: note: {sanitize_message(text)}\n")
