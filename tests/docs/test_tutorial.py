"""The tutorial works when followed literally in a new environment and an empty folder."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.shown import ROOT, commands
from tests.docs.test_snippets import shown_tests

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]


def test_the_tutorial_works_in_a_new_environment(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    programs = tmp_path / "venv" / "bin"
    variables = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    variables.pop("PYTHONPATH", None)
    [install] = [
        command.text
        for command in commands()
        if command.page == "docs/start/tutorial.md" and "pip" in command.text
    ]
    subprocess.run(shlex.split(install), cwd=ROOT, env=variables, check=True)
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in ("test_first.py", "test_second.py"):
        (folder / name).write_text(shown_tests()[name])
    done = subprocess.run(
        ["pytest"], cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    assert "1 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    assert "the smallest ACL that allows it" in done.stdout
