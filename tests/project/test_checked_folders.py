"""Slow tests are left out as long as what they depend on is what they passed with."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

from tests.support.checked_folders import CHECKED, PIPELINE, ROOT, content_digest

OF_THE_PLUGIN = pytest.mark.folders("tests/support/checked_folders.py")
"""Of tests that run pytest."""

TEST = """
import pytest

@pytest.mark.folders("packages/go")
def test_slow(): assert open("packages/go/a.go").read() != "broken"

@pytest.mark.folders("packages/go")
def test_maybe():
    content = open("packages/go/a.go").read()
    if content == "absent": pytest.skip("not here")
    if content == "interrupt": raise KeyboardInterrupt

def test_quick(): pass
"""
PLANTED = """
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):
    assert item.name != "test_slow"
"""
CONFTEST = """
from pathlib import Path
from tests.support.checked_folders import OPTION, CheckedFolders

def pytest_addoption(parser): parser.addoption(OPTION, action="store_true")

def pytest_configure(config):
    config.pluginmanager.register(CheckedFolders(config, Path("checked.json")))
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a checkout with two slow tests of packages/go, and a quick one."""
    (tmp_path / "packages" / "go").mkdir(parents=True)
    (tmp_path / "packages" / "go" / "a.go").write_text("one")
    (tmp_path / "test_go.py").write_text(TEST)
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "planted.py").write_text(PLANTED)
    (tmp_path / ".gitignore").write_text("__pycache__/\n")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return tmp_path


def output(checkout: Path, *words: str) -> str:
    """Return what a run prints."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir=.", *words],
        cwd=checkout,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": f"{ROOT}:."},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def counts(checkout: Path, *words: str) -> dict[str, int]:
    """Return the counts of the summary line of a run."""
    text = output(checkout, *words)
    found = re.findall(r"(\d+) (passed|failed|skipped|deselected)", text.splitlines()[-1])
    assert found, text
    return {name: int(number) for number, name in found}


def checked(checkout: Path) -> list[str]:
    """Return the files that need not run again."""
    return [*json.loads((checkout / "checked.json").read_text())]


@OF_THE_PLUGIN
def test_tests_run_again_only_when_their_folder_changes(checkout: Path) -> None:
    assert "checked.json has what slow tests passed with" in output(checkout)
    assert counts(checkout) == {"passed": 1, "deselected": 2}
    assert counts(checkout, "--all-folders") == {"passed": 3}
    (checkout / "README.md").write_text("beside it")
    (checkout / "packages" / "golang").write_text("beside it")
    assert counts(checkout) == {"passed": 1, "deselected": 2}
    (checkout / "packages" / "go" / "new.go").write_text("new")
    assert counts(checkout) == {"passed": 3}


@OF_THE_PLUGIN
@pytest.mark.parametrize(("content", "outcome"), [("broken", "failed"), ("absent", "skipped")])
def test_what_failed_or_was_skipped_runs_again(content: str, outcome: str, checkout: Path) -> None:
    counts(checkout, "--all-folders")
    assert checked(checkout) == ["test_go.py"]
    (checkout / "packages" / "go" / "a.go").write_text(content)
    assert counts(checkout) == {outcome: 1, "passed": 2}
    assert counts(checkout) == {outcome: 1, "passed": 2}


@OF_THE_PLUGIN
def test_a_known_content_that_fails_is_known_no_more(checkout: Path) -> None:
    counts(checkout)
    assert checked(checkout) == ["test_go.py"]
    assert counts(checkout, "--all-folders", "-p", "planted") == {"failed": 1, "passed": 2}
    assert checked(checkout) == []


@OF_THE_PLUGIN
def test_an_interrupted_run_keeps_nothing(checkout: Path) -> None:
    (checkout / "packages" / "go" / "a.go").write_text("interrupt")
    assert "KeyboardInterrupt" in output(checkout)
    assert not (checkout / "checked.json").exists()


@OF_THE_PLUGIN
@pytest.mark.parametrize("chosen", [["-k", "slow"], ["-m", "folders"], ["test_go.py"]])
def test_chosen_tests_run_and_check_nothing(chosen: list[str], checkout: Path) -> None:
    assert counts(checkout, "--all-folders") == {"passed": 3}
    (checkout / "packages" / "go" / "a.go").write_text("two")
    before = (checkout / "checked.json").read_text()
    assert counts(checkout, "--all-folders", *chosen)["passed"] >= 1
    assert (checkout / "checked.json").read_text() == before
    (checkout / "packages" / "go" / "a.go").write_text("one")
    assert counts(checkout, *chosen)["passed"] >= 1


@OF_THE_PLUGIN
@pytest.mark.parametrize("spread", [[], ["-p", "xdist", "-n", "2"]])
def test_the_summary_counts_what_is_left_out(spread: list[str], checkout: Path) -> None:
    assert counts(checkout, "--all-folders", *spread) == {"passed": 3}
    assert checked(checkout) == ["test_go.py"]
    assert "2 slow tests left out" in output(checkout, *spread)
    assert "left out" not in output(checkout, "--all-folders", *spread)


def test_without_git_all_tests_run(tmp_path: Path) -> None:
    assert content_digest(tmp_path, ("packages",)) is None


def test_a_marker_that_names_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="names packages/fortran: there is no such file"):
        content_digest(ROOT, ("packages/fortran",))


def test_jobs_depend_on_their_paths_alone() -> None:
    """Formats of ACLs, facts from jars and texts have tests of their own, which always run."""
    graph = grimp.build_graph("kafka_shim", cache_dir=None)
    imported = graph.find_upstream_modules("kafka_shim.pipeline", as_package=True)
    files = {f"src/{module.replace('.', '/')}.py" for module in imported}
    assert len(files) > 50
    rooms = [f"src/kafka_shim/{room}" for room in ("policy/formats", "schemas", "text")]
    assert not [file for file in files if not file.startswith((*PIPELINE.args, *rooms))]


def test_the_checked_files_are_tests_of_this_tree() -> None:
    known = json.loads(CHECKED.read_text())
    assert all("folders" in (ROOT / file).read_text() for file in known)
