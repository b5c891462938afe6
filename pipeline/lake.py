"""How far a lake has read its traces: numbered runs, each all or nothing.

A lake is a folder: `requests/date=.../*.parquet` and so on, and `_runs/`. A run stages its files,
then writes `_runs/N.pending.json` (which files go where, and how far each segment is read), moves
the files, and renames the note to `N.json`. Whatever moment it dies at, the next run finishes what
was noted or forgets what was not: no row is lost, none is there twice.
"""

import os
import shutil
from pathlib import Path

import msgspec

RUNS = "_runs"
STAGED = "_staged"


class Run(msgspec.Struct):
    """One run: `moves` are (staged, final) paths in the lake, `read` where segments are read to."""

    moves: list[tuple[str, str]]
    read: dict[str, int]


class Lake:
    """The state of one lake; one process at a time may write to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._runs = folder / RUNS
        self.staged = folder / STAGED

    @staticmethod
    def is_one(folder: Path) -> bool:
        return (folder / RUNS).is_dir()

    def recover(self) -> bool:
        """Finish the run that was noted, forget the one that was not; tells whether it did."""
        self._runs.mkdir(parents=True, exist_ok=True)
        pending = sorted(self._runs.glob("*.pending.json"))
        for note in pending:
            self._finish(note)
        shutil.rmtree(self.staged, ignore_errors=True)
        return bool(pending)

    def positions(self) -> dict[str, int]:
        """How far each segment has been read, by its path."""
        found: dict[str, int] = {}
        for note in sorted(self._runs.glob("[0-9]*.json")):
            found |= msgspec.json.decode(note.read_bytes(), type=Run).read
        return found

    def commit(self, read: dict[str, int]) -> int:
        """Make what is staged part of the lake; tells how many files that were."""
        number = len(list(self._runs.glob("[0-9]*.json")))
        moves = []
        for path in sorted(self.staged.rglob("*.parquet")):
            staged = path.relative_to(self.folder)
            final = Path(*staged.parts[1:-1], f"{number:08d}-{path.name}")
            moves.append((str(staged), str(final)))
        note = self._runs / f"{number:08d}.pending.json"
        _write(note, msgspec.json.encode(Run(moves, read)))
        self._finish(note)
        shutil.rmtree(self.staged, ignore_errors=True)
        return len(moves)

    def _finish(self, note: Path) -> None:
        run = msgspec.json.decode(note.read_bytes(), type=Run)
        for staged, final in run.moves:
            target = self.folder / final
            target.parent.mkdir(parents=True, exist_ok=True)
            if (self.folder / staged).exists():  # else it was moved before the last run died
                os.replace(self.folder / staged, target)  # noqa: PTH105 - atomic, as its name says
        os.replace(note, str(note).replace(".pending", ""))  # noqa: PTH105


def _write(path: Path, content: bytes) -> None:
    """A whole file or none."""
    new = path.with_suffix(".new")
    with new.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)  # noqa: PTH105
