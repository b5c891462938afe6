"""Starts the command line in its own process."""

import os
import shlex
import sys
from pathlib import Path

TESTED = shlex.split(os.environ.get("SHIM_TEST_COMMAND", ""))
"""Another `kafka-shim` to test, such as the single file; empty: that of this environment."""
SHIM = tuple(TESTED) or (sys.executable, "-P", "-m", "kafka_shim")
"""`kafka-shim`; modules in the current folder are not imported."""


def environment(**more: str) -> dict[str, str]:
    """Return this process's variables and `more`, with the repository on PYTHONPATH."""
    return os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])} | more
