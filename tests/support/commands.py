"""Starts the command line in its own process, and parses the `host:port` that it prints."""

import os
import shlex
import socket
import sys
from pathlib import Path

TESTED = shlex.split(os.environ.get("SHIM_TEST_COMMAND", ""))
"""Another `kafka-shim` to test, such as the single file; empty: that of this environment."""
SHIM = tuple(TESTED) or (sys.executable, "-P", "-m", "kafka_shim")
"""`kafka-shim`; modules in the current folder are not imported."""


def environment(**more: str) -> dict[str, str]:
    """Return this process's variables and `more`, with the repository on PYTHONPATH."""
    return os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])} | more


def split(address: str) -> tuple[str, int]:
    """Return the host and the port."""
    host, _, port = address.rpartition(":")
    return host, int(port)


def is_listening(address: str) -> bool:
    """Return whether the address accepts a connection."""
    try:
        socket.create_connection(split(address), 5).close()
    except ConnectionRefusedError:
        return False
    return True
