"""Output: a command writes, replaces and removes only where kafka-shim wrote before.

The rule for a file that an option names: it is absent, empty, or of the kind that this option
writes (`check_output_file`). For a folder: it is absent, empty, or has our mark
(`mark_output_folder`).
"""

import os
import re
from collections.abc import Sequence
from errno import EEXIST, EISDIR
from pathlib import Path

MARKER = ".kafka-shim"
_HEAD_BYTES = 1 << 16


class ForeignContentError(FileExistsError):
    """An output path has content that kafka-shim did not write."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(EEXIST, reason, str(path))


def mark_output_folder(folder: Path, kind: str, own_names: Sequence[str] = ("*",)) -> None:
    """Create and mark a folder for output of one kind.

    `own_names` are the patterns of the names that output of this kind has. Raise
    ForeignContentError for a folder with content that has no mark of this kind, or other names.
    Raise OSError if the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    marker = folder / MARKER
    own = set[str]()
    if marker.is_file() and marker.read_text(encoding="utf-8") == f"{kind}\n":
        own = {MARKER, *(path.name for pattern in own_names for path in folder.glob(pattern))}
    foreign = sorted({path.name for path in folder.iterdir()} - own)
    if foreign:
        names = ", ".join(foreign[:3]) + (", ..." if len(foreign) > 3 else "")
        raise ForeignContentError(
            folder,
            f"the folder contains {names}, which is no earlier output of this command; name a new"
            " or an empty folder",
        )
    marker.write_text(f"{kind}\n", encoding="utf-8")


def remove_own_files(folder: Path, kind: str, own_names: Sequence[str]) -> None:
    """Claim a folder, and remove the files that an earlier command wrote there."""
    mark_output_folder(folder, kind, own_names)
    for pattern in own_names:
        for path in folder.glob(pattern):
            path.unlink()


def check_output_file(path: Path, own_content: str) -> None:
    """Raise ForeignContentError for a file whose beginning does not match a pattern.

    Raise IsADirectoryError for a folder. The pattern is one of characters, each of which stands for
    a byte. Devices such as /dev/stdout are no files of anybody.
    """
    if path.is_dir():
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR), str(path))
    if not path.is_file():
        return
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES).decode("latin-1")
    if head and re.match(own_content, head) is None:
        raise ForeignContentError(
            path, "the file exists, and is no earlier output of this command; name a new one"
        )
