"""The example projects in other languages are green, each by its one command in a copy of it."""

import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from os import environ
from pathlib import Path

import pytest

from tests.clients.toolchains import need

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"

pytestmark = [pytest.mark.client, pytest.mark.timeout(300, func_only=True)]


def _go(project: Path, printed: str) -> bool:
    return "\nok " in printed


def _node(project: Path, printed: str) -> bool:
    return "# tests 4\n" in printed and "# pass 4\n" in printed


def _java(project: Path, printed: str) -> bool:
    [report] = (project / "target" / "surefire-reports").glob("*.txt")
    return "Tests run: 4, Failures: 0, Errors: 0, Skipped: 0" in report.read_text()


@pytest.mark.parametrize(
    ("name", "tools", "is_green"),
    [
        ("go-franz", ["go"], _go),
        ("node-kafkajs", ["node", "npm"], _node),
        pytest.param("java-junit", ["java", "mvn"], _java, marks=pytest.mark.heavy),
    ],
)
def test_an_example_is_green(
    tmp_path: Path, name: str, tools: list[str], is_green: Callable[[Path, str], bool]
) -> None:
    """`make test` makes an environment with the broker first; here it is the one of this test."""
    need(name, "make", *tools)
    project = tmp_path / name
    built = shutil.ignore_patterns(".venv", "target", "node_modules")
    shutil.copytree(EXAMPLES / name, project, ignore=built)
    shim = f"SHIM={shlex.quote(sys.executable)} -P -m shim"
    done = subprocess.run(
        ["make", "test", shim],
        cwd=project,
        env={**environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert is_green(project, done.stdout), done.stdout
