"""What the pages take for granted: the broker of `make run`, and a folder to type commands in."""

import re
import shlex
import subprocess
import time
from collections.abc import Iterator, Mapping
from os import environ
from pathlib import Path

import pytest

from tests.commands import SHIM
from tests.docs.shell import Shell
from tests.docs.shown import ROOT


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What `make run` starts, on free ports; addresses by listener."""
    ready = tmp_path_factory.mktemp("demo") / "ready"
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
    deadline = time.monotonic() + 20
    while not ready.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    yield dict(line.split("=", 1) for line in ready.read_text().splitlines())
    child.terminate()
    assert child.wait(10) == 0


@pytest.fixture
def shell(demo: Mapping[str, str], tmp_path: Path) -> Shell:
    return Shell(
        tmp_path,
        {
            "127.0.0.1:9092": demo["PLAINTEXT"],
            "127.0.0.1:8082": "127.0.0.1:0",
            "examples/denied.py": f"examples/denied.py {demo['SASL_PLAINTEXT']}",
        },
    )
