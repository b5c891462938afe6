"""Which other processes have a file open."""

import os
from pathlib import Path


def other_processes_with_file(path: Path) -> list[str]:
    """Return processes that have this file open, such as `4711 (sqlite3)`.

    Return those whose open files this user can see; none on systems without /proc.
    """
    target = str(path.resolve())
    return [
        f"{process.name} ({_command_name(process)})"
        for process in sorted(Path("/proc").glob("[0-9]*"))
        if process.name != str(os.getpid()) and target in _open_files(process)
    ]


def _open_files(process: Path) -> set[str]:
    found = set[str]()
    try:
        for descriptor in (process / "fd").iterdir():
            found.add(str(descriptor.readlink()))
    except OSError:  # another user's process, or one that has just ended
        pass
    return found


def _command_name(process: Path) -> str:
    try:
        return (process / "comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return "ended"
