"""Capture the loopback interface with tcpdump, if that is permitted."""

import contextlib
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest


@contextlib.contextmanager
def capturing(file: Path, ports: list[str]) -> Iterator[None]:
    """Capture the traffic of these ports; raise PermissionError if tcpdump may not capture."""
    filters = " or ".join(f"port {port}" for port in ports)
    command = ["tcpdump", "-i", "lo", "-U", "-w", str(file), filters]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert child.stderr is not None
    try:
        said = next((line for line in child.stderr if "tcpdump: " in line), "it said nothing")
        if "listening on" not in said:
            raise PermissionError(f"tcpdump may not listen here: {said.strip()}")
        yield
        time.sleep(1)  # until tcpdump has written the last packets
    finally:
        child.send_signal(signal.SIGINT)
        child.wait(10)
        child.stderr.close()


@cache
def why_not() -> str:
    """Return why nothing can be captured here; empty if it can."""
    if shutil.which("tcpdump") is None:
        return "tcpdump is not installed"
    command = ["tcpdump", "-i", "lo", "--list-data-link-types"]
    asked = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if asked.returncode == 0 else f"tcpdump may not listen here: {asked.stderr.strip()}"


needs_capturing = pytest.mark.skipif(bool(why_not()), reason=why_not() or "it can be captured")
