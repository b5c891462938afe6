"""What docs/testing.md and docs/log-ins.md show is what happens; the example project is green."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shim.testing import start
from tests.plugin.test_pytest_plugin import PLUGIN, is_installed

ROOT = Path(__file__).parents[2]
GUIDE = "".join((ROOT / "docs" / name).read_text() for name in ("testing.md", "log-ins.md"))
EXAMPLE = ROOT / "examples" / "pytest-confluent"

pytestmark = [pytest.mark.client, pytest.mark.timeout(180, func_only=True)]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


def snippets() -> dict[str, str]:
    """The Python blocks by the file name in their first line; each has one."""
    found = {}
    for block in blocks("python"):
        first = block.partition("\n")[0]
        assert first.startswith("# test_"), first
        found[first.removeprefix("# ")] = block
    assert len(found) == len(blocks("python"))
    return found


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    if not is_installed():
        command += ["-p", PLUGIN]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=150
    )


def test_the_tutorials_first_test_fails_with_the_advice_it_shows(tmp_path: Path) -> None:
    (tmp_path / "test_first.py").write_text(snippets()["test_first.py"])
    done = run(tmp_path)
    assert "1 failed" in done.stdout
    [shown] = blocks("text")
    said = _without_numbers(done.stdout)
    for line in shown.splitlines():
        assert _without_numbers(line) in said


def _without_numbers(text: str) -> str:
    """Which version was asked, and how often the client tried, is the client's business."""
    return re.sub(r" v\d+(, \d+ times)?", " v0", text)


def test_all_other_snippets_pass(tmp_path: Path) -> None:
    others = {name: text for name, text in snippets().items() if name != "test_first.py"}
    for name, text in others.items():
        (tmp_path / name).write_text(text)
    done = run(tmp_path)
    assert done.returncode == 0, done.stdout
    wanted = sum(text.count("\ndef test_") for text in others.values())
    wanted += 1  # one of them is of two releases
    assert f"{wanted} passed" in done.stdout


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not on the PATH")
def test_the_curl_commands_work(tmp_path: Path) -> None:
    [script] = blocks("bash")
    with start() as broker:
        assert broker.control_url is not None
        script = script.replace("http://127.0.0.1:8082", broker.control_url)
        (tmp_path / "script.sh").write_text(script)
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "script.sh"],
            cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        assert '"name":"orders"' in done.stdout
        assert broker.topics.list() == []


def test_the_example_project_is_green(tmp_path: Path) -> None:
    """`make test` in it makes an environment first; here it is the one that runs this test."""
    project = tmp_path / "project"
    ignored = shutil.ignore_patterns(".venv", "__pycache__", ".pytest_cache")
    shutil.copytree(EXAMPLE, project, ignore=ignored)
    done = run(project)
    assert done.returncode == 0, done.stdout
    assert "7 passed" in done.stdout
