"""A lake: plain Parquet in folders, changed by numbered runs, each completely or not at all.

A lake has folders such as `requests/date=.../*.parquet`, and `_runs/`. A run stages its files,
writes `_runs/N.pending.json` (which files to move where), moves the files, and renames the note to
`N.json`. If the process ends at any point, the next one completes a run with a note and discards
one without. So no row is lost or duplicated.
"""

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.text.output_paths import ForeignContentError, mark_output_folder

LAKE = "lake"
RUNS = "_runs"
STAGED = "_staged"
CHECKPOINT = "_checkpoint"


class PendingRun(msgspec.Struct):
    """One run: `moves` are (staged, final) paths in the lake."""

    moves: list[tuple[str, str]]


class Lake:
    """A lake on disk; runs have the numbers of the stream's micro-batches."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._runs = folder / RUNS
        self.staged = folder / STAGED
        self.checkpoint = folder / CHECKPOINT

    @staticmethod
    def is_lake(folder: Path) -> bool:
        return (folder / RUNS).is_dir()

    @contextlib.contextmanager
    def exclusive_lock(self) -> Iterator[None]:
        """Lock the lake for writing.

        Raise PipelineError if another process holds the lock, if the folder has content that is no
        lake, and on Windows.
        """
        if sys.platform == "win32":
            raise PipelineError("writing a lake needs Linux or macOS")
        import fcntl  # noqa: PLC0415 - Unix only

        try:
            mark_output_folder(self.folder, LAKE)
        except ForeignContentError as error:
            raise PipelineError(f"{self.folder}: {error.strerror}") from error
        self._runs.mkdir(exist_ok=True)
        with (self._runs / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise PipelineError(f"another process is writing to {self.folder}") from None
            yield  # the system releases the lock when the process ends

    def complete_noted_run(self) -> bool:
        """Complete a run with a note, discard one without; return whether one was completed."""
        self._runs.mkdir(parents=True, exist_ok=True)
        pending = sorted(self._runs.glob("*.pending.json"))
        for note in pending:
            self._move_staged_files(note)
        if list(self._runs.glob("[0-9]*.json")) and not self.checkpoint.is_dir():
            raise PipelineError(
                f"{self.checkpoint} is missing, so it is unknown what {self.folder} has read;"
                " begin a new lake"
            )
        shutil.rmtree(self.staged, ignore_errors=True)
        return bool(pending)

    def has_run(self, run_number: int) -> bool:
        """Return whether the lake contains this run."""
        return (self._runs / f"{run_number:08d}.json").exists()

    def commit_staged_files(self, run_number: int) -> int:
        """Move staged files into the lake; return their number."""
        moves = []
        for path in sorted(self.staged.rglob("*.parquet")):
            staged = path.relative_to(self.folder)
            final = Path(*staged.parts[1:-1], f"{run_number:08d}-{path.name}")
            moves.append((str(staged), str(final)))
        note = self._runs / f"{run_number:08d}.pending.json"
        _write_atomically(note, msgspec.json.encode(PendingRun(moves)))
        self._move_staged_files(note)
        shutil.rmtree(self.staged, ignore_errors=True)
        return len(moves)

    def _move_staged_files(self, pending_note: Path) -> None:
        run = msgspec.json.decode(pending_note.read_bytes(), type=PendingRun)
        for staged, final in run.moves:
            target = self.folder / final
            target.parent.mkdir(parents=True, exist_ok=True)
            if (self.folder / staged).exists():  # else it had been moved before the process ended
                os.replace(self.folder / staged, target)  # noqa: PTH105 - atomic, as its name says
        os.replace(pending_note, str(pending_note).replace(".pending", ""))  # noqa: PTH105


def _write_atomically(path: Path, content: bytes) -> None:
    """Write a file completely or not at all."""
    new = path.with_suffix(".new")
    with new.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)  # noqa: PTH105
