"""Starts the command line in its own process."""

import os
import sys
from pathlib import Path

SHIM = (sys.executable, "-P", "-m", "kafka_shim")
"""`kafka-shim` of this environment; modules in the current folder are not imported."""


def environment(**more: str) -> dict[str, str]:
    """Return this process's variables and `more`, with the repository on PYTHONPATH."""
    return os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])} | more
