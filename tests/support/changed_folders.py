"""Which folders have changed: slow tests of rarely changed folders run only then."""

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
DAY_S = 86_400


def has_changed(paths: tuple[str, ...], files: frozenset[str] | None) -> bool:
    """Return whether a path, or a file below one, is listed; True if the files are unknown."""
    prefixes = tuple(f"{path}/" for path in paths)
    return files is None or any(file in paths or file.startswith(prefixes) for file in files)


@cache
def changed_files(root: Path = ROOT) -> frozenset[str] | None:
    """Return the files that differ from the last commit that is a day older than the newest one.

    None: this is not a checkout of git, or one without such a commit.
    """
    newest = _git(root, "log", "-1", "--format=%ct")
    if not newest:
        return None
    before = f"--before={int(newest[0]) - DAY_S}"
    older = _git(root, "rev-list", "-1", before, "HEAD")
    differing = _git(root, "diff", "--name-only", older[0]) if older else None
    status = _git(root, "status", "--porcelain", "--untracked-files=all")
    if differing is None or status is None:
        return None
    return frozenset(differing) | {line[3:].rpartition(" -> ")[2] for line in status}


def _git(root: Path, *words: str) -> list[str] | None:
    """Return the lines of the output; None if the command fails."""
    try:
        done = subprocess.run(
            ["git", "-C", root, *words], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.splitlines()
