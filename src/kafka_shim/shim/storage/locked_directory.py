"""The data directory: only one process uses it, and that process notices if files are deleted."""

import errno
import fcntl
import os
import time
from collections.abc import Iterable
from pathlib import Path

from kafka_shim.shim.errors import ConfigError

_SETTLED_NS = 2_000_000_000
"""No file system counts the times of its directories in coarser units."""


class LockedDirectory:
    """A directory that no other process can lock.

    The lock is on the directory itself, since a file in it can be deleted by mistake.
    """

    def __init__(self, path: Path) -> None:
        """Create the directory if it is missing, and lock it. Raise ConfigError if that fails."""
        self.path = path
        self._name = str(path)
        self._inodes: dict[str, int] = {}
        self._seen = 0, 0
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise ConfigError(f"--data-dir {path}: {error.strerror}: {error.filename}") from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.unlock()
            text = "is in use by another kafka-shim; stop it, or choose another directory"
            raise ConfigError(f"--data-dir {path} {text}") from error

    def require_no_links(self, names: Iterable[str]) -> None:
        """Raise ConfigError if one of the files is a link, or has a second name: what is written
        would change a file elsewhere, such as a copy that was made of hard links.
        """
        for name in names:
            path = self.path / name
            if path.is_symlink() or (path.exists() and path.stat().st_nlink > 1):
                kind = "is a link" if path.is_symlink() else "has a second name (a hard link)"
                raise ConfigError(
                    f"--data-dir {self.path}: `{name}` {kind}; move the file itself here, or choose"
                    " another directory"
                )

    def watch_files(self, names: Iterable[str]) -> None:
        """Remember these files. Raise FileNotFoundError if one is missing."""
        self._inodes = {name: (self.path / name).stat().st_ino for name in names}

    def require_watched_files(self) -> None:
        """Raise FileNotFoundError if a watched file was deleted or replaced.

        The time of a directory changes with its entries: while it is the same, so are the files.
        """
        directory = os.stat(self._name)  # noqa: PTH116 - for each write, and a Path takes twice the time
        seen = directory.st_ino, directory.st_mtime_ns
        if seen == self._seen:
            return
        for name, inode in self._inodes.items():
            path = self.path / name
            if path.stat().st_ino != inode:
                raise FileNotFoundError(errno.ENOENT, "the file was replaced", str(path))
        if time.time_ns() - directory.st_mtime_ns > _SETTLED_NS:
            self._seen = seen

    def unlock(self) -> None:
        """Let other processes use the directory."""
        os.close(self._descriptor)
