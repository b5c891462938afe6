"""Which folders have changed: slow tests of rarely changed folders run only then."""

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


def has_changed(folders: tuple[str, ...], files: frozenset[str] | None) -> bool:
    """Return whether a file is in one of the folders; True if the files are unknown."""
    prefixes = tuple(f"{folder}/" for folder in folders)
    return files is None or any(file.startswith(prefixes) for file in files)


@cache
def changed_files(root: Path = ROOT) -> frozenset[str] | None:
    """Return the files that differ from the published branch or, if none do, from the last commit.

    None: this is not a checkout of git, or one without history.
    """
    status = _git(root, "status", "--porcelain", "--untracked-files=all")
    published = _git(root, "merge-base", "HEAD", "origin/main")
    if published == _git(root, "rev-parse", "HEAD"):
        published = None
    since = _git(root, "diff", "--name-only", published[0] if published else "HEAD~1")
    if status is None or since is None:
        return None
    return frozenset(since) | {line[3:].rpartition(" -> ")[2] for line in status}


def _git(root: Path, *words: str) -> list[str] | None:
    """Return the lines of the output; None if the command fails."""
    try:
        done = subprocess.run(
            ["git", "-C", root, *words], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.splitlines()
