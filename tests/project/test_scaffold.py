"""New handlers, jobs, cases and commands work as they are written, except for the test to write.

All four are written into one copy of the sources, whose linters, types and tests are run.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.docs.shown import ROOT
from tests.project import scaffold

pytestmark = pytest.mark.folders(
    "tests/project/scaffold.py",
    "tests/project/test_scaffold.py",
    "src/kafka_shim/shim/apis.py",
    "src/kafka_shim/shim/handlers/common",
)

NEW = {
    "handler": "UpdateRaftVoter",
    "job": "busy-principals",
    "case": "trouble.slow-leader",
    "command": "topics",
}
SCAFFOLDS = {kind: scaffold.KINDS[kind](name) for kind, name in NEW.items()}
NOT_COPIED = shutil.ignore_patterns(
    "__pycache__", "recorded", "golden", "node_modules", "target", "build", "*.gz"
)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the sources and tests in which all four have been written."""
    root = tmp_path_factory.mktemp("tree")
    for name in ("src", "tests", "conformance"):
        shutil.copytree(ROOT / name, root / name, ignore=NOT_COPIED)
    shutil.copy(ROOT / "pyproject.toml", root)
    if (ROOT / ".mypy_cache").is_dir():  # saves half a minute
        shutil.copytree(ROOT / ".mypy_cache", root / ".mypy_cache")
    for each in SCAFFOLDS.values():
        scaffold.write(each, root)
    return root


def run(tree: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run a Python module in the copy, with its sources."""
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree}"},
        capture_output=True,
        text=True,
        check=False,
    )


def written() -> Sequence[str]:
    """Return the new and the changed files."""
    return sorted(
        {
            path
            for each in SCAFFOLDS.values()
            for path in (*each.files, *(element.path for element in each.elements), *each.appended)
        }
    )


def test_linters_find_nothing(tree: Path) -> None:
    checked = run(tree, "ruff", "check", *written())
    assert checked.returncode == 0, checked.stdout
    formatted = run(tree, "ruff", "format", "--check", "--diff", *written())
    assert formatted.returncode == 0, formatted.stdout


@pytest.mark.slow
def test_types_are_right(tree: Path) -> None:
    checked = run(tree, "mypy", *written())
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("kind", NEW)
def test_its_tests_fail_only_where_something_is_to_be_written(tree: Path, kind: str) -> None:
    files = [path for path in SCAFFOLDS[kind].files if path.startswith("tests/")]
    done = run(tree, "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *files)
    assert re.search(r"^1 failed, [12] (?:passed|skipped)", done.stdout, re.MULTILINE), done.stdout
    assert re.findall(r"^E +(.*)", done.stdout, re.MULTILINE)[0].startswith("Failed: write me: ")


def test_rules_of_handlers_and_layout_hold(tree: Path) -> None:
    rules = ("handlers_have_their", "apis_are_listed", "every_handler_file", "file_of_a_job")
    done = run(
        *(tree, "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"),
        *("-k", " or ".join((*rules, "summary_of_its_module"))),
        *("tests/project/test_tidy.py", "tests/pipeline/test_house.py"),
    )
    assert "5 passed" in done.stdout, done.stdout


@pytest.mark.parametrize(
    ("kind", "name", "error"),
    [
        ("handler", "Fetch", "`Fetch` has a handler already"),
        ("handler", "Fetsch", "unknown API `Fetsch`"),
        ("job", "Busy", "invalid name `Busy`"),
        ("case", "slow", "invalid case `slow`: expected FAMILY.NAME"),
        ("command", "explain", "explain.py` exists already"),
    ],
)
def test_invalid_names_are_reported(
    kind: str, name: str, error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        scaffold.main([kind, name])
    assert error in capsys.readouterr().err
