"""What was installed: the Python package, or the single file, which needs no Python."""

import sys

IS_SINGLE_FILE: bool = getattr(sys, "frozen", False)
"""Set by PyInstaller, which makes the single file (packages/binary)."""


def kafka_shim_command() -> list[str]:
    """Return the words that start `kafka-shim` again, without modules of the current folder."""
    return [sys.executable] if IS_SINGLE_FILE else [sys.executable, "-P", "-m", "kafka_shim"]
