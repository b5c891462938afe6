"""Slow tests run when a file in their folders has changed."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.changed_folders import changed_files, has_changed


def git(root: Path, *words: str, days_ago: int = 0) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    time = f"@{1_700_000_000 - days_ago * 86_400} +0000"
    subprocess.run(
        ["git", "-C", root, *identity, *words],
        check=True,
        capture_output=True,
        env=os.environ | {"GIT_AUTHOR_DATE": time, "GIT_COMMITTER_DATE": time},
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a checkout with an old commit, and one of today that changed packages/go/a.go."""
    (tmp_path / "packages" / "go").mkdir(parents=True)
    git(tmp_path, "init", "-q", "-b", "main")
    for text, days_ago in (("one", 9), ("two", 0)):
        (tmp_path / "packages" / "go" / "a.go").write_text(text)
        (tmp_path / "README.md").write_text("same")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-q", "-m", text, days_ago=days_ago)
    return tmp_path


def test_changes_of_the_last_day_count(checkout: Path) -> None:
    assert changed_files(checkout) == frozenset({"packages/go/a.go"})


def test_new_files_and_changes_without_a_commit_count(checkout: Path) -> None:
    (checkout / "README.md").write_text("other")
    (checkout / "examples").mkdir()
    (checkout / "examples" / "new.py").write_text("")
    changed = frozenset({"packages/go/a.go", "README.md", "examples/new.py"})
    assert changed_files(checkout) == changed


def test_a_checkout_without_older_commits_runs_all(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "first")
    assert changed_files(tmp_path) is None


def test_without_git_all_tests_run(tmp_path: Path) -> None:
    assert changed_files(tmp_path) is None
    assert has_changed(("packages/go",), None)


def test_a_folder_is_not_changed_by_files_beside_it() -> None:
    files = frozenset({"packages/golang/a.go", "packages/go.mod"})
    assert has_changed(("packages/go.mod",), files)
    assert not has_changed(("packages/go",), files)
    assert has_changed(("docs", "packages/go"), files | {"packages/go/x/b.go"})
