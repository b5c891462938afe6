"""The broker that `make run` starts, on free ports."""

import contextlib
import re
import shlex
import subprocess
import time
from collections.abc import Iterator
from os import environ
from pathlib import Path

from tests.docs.shown import ROOT
from tests.support.commands import SHIM


@contextlib.contextmanager
def demo_broker(folder: Path) -> Iterator[dict[str, str]]:
    """Start the broker of `make run`; yield its addresses by listener."""
    ready = folder / "ready"
    recipe = (ROOT / "Makefile").read_text().split("\nrun: ", 1)[1].split("\n\n", 1)[0]
    options = shlex.split(recipe.split("kafka-shim serve", 1)[1].replace("\\\n", " "))
    options = [re.sub(r"(://127\.0\.0\.1):\d+", r"\1:0", option) for option in options]
    child = subprocess.Popen(
        [*SHIM, "serve", *options, "--ready-file", str(ready)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environ | {"PYTHONPATH": str(ROOT)},
    )
    try:
        deadline = time.monotonic() + 20
        while not ready.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        yield dict(line.split("=", 1) for line in ready.read_text().splitlines())
    finally:
        child.terminate()
        code = child.wait(10)
    assert code == 0


def replacements(addresses: dict[str, str]) -> dict[str, str]:
    """Map addresses on pages to those of the test's broker: the ports on pages may be taken."""
    return {
        "127.0.0.1:9092": addresses["PLAINTEXT"],
        "127.0.0.1:8082": "127.0.0.1:0",
        "examples/denied.py": f"examples/denied.py {addresses['SASL_PLAINTEXT']}",
    }
