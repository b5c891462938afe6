"""The command that lists the changes of a release; needs Java and the jars."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.heavy
@pytest.mark.timeout(600)
def test_the_command_of_the_page_makes_a_checklist(tmp_path: Path) -> None:
    page = (ROOT / "tests/recordings/README.md").read_text()
    shown = re.search(
        r"^ {4}python (-m tests\.releases day .+?) --markdown \S+$", page, re.MULTILINE
    )
    assert shown is not None
    out = tmp_path / "checklist.md"
    words = [sys.executable, *shlex.split(shown[1]), "--markdown", str(out)]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True, timeout=500)
    assert "StreamsGroupTopologyDescriptionUpdate" in out.read_text()
