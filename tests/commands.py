"""Starts the command line in a process of its own."""

import os
import sys
from pathlib import Path

SHIM = (sys.executable, "-P", "-m", "kafka_shim")
"""`kafka-shim` of this environment, whatever is in the current folder."""


def environment(**more: str) -> dict[str, str]:
    """Return this process's variables and others; modules of the repository can be imported."""
    return os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])} | more
