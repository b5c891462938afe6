"""The example of the page about mutation testing prints what the page shows."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.shown import ROOT, blocks
from tests.support.commands import environment

PAGE = "docs/guides/mutation.md"
COMMAND = "pytest --kafka-mutate-acls test_shop.py"
pytestmark = [
    pytest.mark.folders(PAGE, "src/kafka_shim/testing/mutation"),
    pytest.mark.timeout(300, func_only=True),
]


def shown_output() -> list[str]:
    """Return the lines below the command."""
    _, _, rest = (ROOT / PAGE).read_text().partition(f"    $ {COMMAND}\n")
    return [line[4:] for line in rest.partition("\n\n")[0].splitlines()]


def test_the_example_prints_what_the_page_shows(tmp_path: Path) -> None:
    [block] = [block for block in blocks() if block.page == PAGE]
    (tmp_path / block.name).write_text(block.text)
    done = subprocess.run(
        [sys.executable, "-m", *COMMAND.split()],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines() == shown_output(), done.stderr
    assert done.returncode == 0
