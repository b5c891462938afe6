"""Slow tests run when a file in their folders has changed."""

import subprocess
from pathlib import Path

import pytest

from tests.support.changed_folders import changed_files, has_changed


def git(root: Path, *words: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "-C", root, *identity, *words], check=True, capture_output=True)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a clone whose last commit changed packages/go/a.go."""
    origin = tmp_path / "origin"
    (origin / "packages" / "go").mkdir(parents=True)
    git(tmp_path, "init", "-q", "-b", "main", str(origin))
    for text in ("one", "two"):
        (origin / "packages" / "go" / "a.go").write_text(text)
        (origin / "README.md").write_text("same")
        git(origin, "add", "-A")
        git(origin, "commit", "-q", "-m", text)
    git(tmp_path, "clone", "-q", str(origin), "clone")
    return tmp_path / "clone"


def test_a_fresh_clone_has_the_changes_of_its_last_commit(clone: Path) -> None:
    assert changed_files(clone) == frozenset({"packages/go/a.go"})


def test_commits_that_are_not_published_count_and_so_do_new_files(clone: Path) -> None:
    (clone / "README.md").write_text("other")
    git(clone, "commit", "-q", "-a", "-m", "three")
    (clone / "examples").mkdir()
    (clone / "examples" / "new.py").write_text("")
    assert changed_files(clone) == frozenset({"README.md", "examples/new.py"})


def test_without_git_all_tests_run(tmp_path: Path) -> None:
    assert changed_files(tmp_path) is None
    assert has_changed(("packages/go",), None)


def test_a_folder_is_not_changed_by_files_beside_it() -> None:
    files = frozenset({"packages/golang/a.go", "packages/go.mod"})
    assert not has_changed(("packages/go",), files)
    assert has_changed(("docs", "packages/go"), files | {"packages/go/x/b.go"})
