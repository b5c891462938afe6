"""The broker that `make run` starts, on free ports."""

import contextlib
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from os import environ

from tests.docs.shown import ROOT

LAST_LINE = "Ctrl-C stops the broker."


@dataclass(frozen=True)
class Demo:
    """The addresses by listener, and the lines that were printed at the start."""

    addresses: dict[str, str]
    lines: list[str]


@contextlib.contextmanager
def demo_broker() -> Iterator[Demo]:
    """Run the command of `make run` on free ports until it has printed its page."""
    recipe = (ROOT / "Makefile").read_text().split("\nrun: ", 1)[1].split("\n\n", 1)[0]
    program, *options = shlex.split(recipe.split("/python ", 1)[1].replace("\\\n", " "))
    options = [option.replace("$(PORT)", "0") for option in options]
    child = subprocess.Popen(
        [sys.executable, program, *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environ | {"PYTHONPATH": str(ROOT)},
    )
    assert child.stdout is not None
    try:
        lines = []
        for line in child.stdout:
            lines.append(line.rstrip("\n"))
            if LAST_LINE in line:
                break
        text = "\n".join(lines)
        assert LAST_LINE in text, text
        yield Demo(dict(re.findall(r"listening on (\w+)://(\S+)", text)), lines)
    finally:
        child.terminate()  # the broker ends when its standard input is closed
        child.wait(10)
        child.stdout.close()


def replacements(addresses: dict[str, str]) -> dict[str, str]:
    """Map addresses on pages to those of the test's broker: the ports on pages may be taken."""
    return {
        "127.0.0.1:9092": addresses["PLAINTEXT"],
        "127.0.0.1:9093": addresses["SASL_PLAINTEXT"],
        "127.0.0.1:8082": "127.0.0.1:0",
    }
