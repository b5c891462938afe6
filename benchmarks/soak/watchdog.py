"""Keeps the stacks of clients and broker when a client makes no progress.

A process that has called `write_stacks_on_signal` writes the stacks of all its threads and asyncio
tasks into a file of its own when it gets SIGUSR1, also while it is stuck in native code.
"""

import asyncio
import faulthandler
import io
import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from types import FrameType

FOLDER = "SOAK_STACKS"
"""The environment variable with the folder; it passes from the soak to its processes."""
HOOKS = Path(__file__).parent / "in_every_process"
WRITING_S = 5
QUIET_S = 0.5
"""After this time without more output, a process has written its stacks."""


def prepare(folder: Path) -> None:
    """Make the processes that start from now on write their stacks into this folder."""
    folder.mkdir(parents=True, exist_ok=True)
    os.environ[FOLDER] = str(folder)
    root = Path(__file__).parents[2]
    known = os.environ.get("PYTHONPATH")
    paths = [str(HOOKS), str(root), *([known] if known else [])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)


def write_stacks_on_signal() -> None:
    """Write the stacks of this process when it gets SIGUSR1, if `prepare` has named a folder."""
    folder = os.environ.get(FOLDER)
    if folder is None:
        return
    file = (Path(folder) / f"{os.getpid()}.txt").open("a")

    def write_tasks(_number: int, _frame: FrameType | None) -> None:
        file.write(_task_stacks())
        file.flush()

    signal.signal(signal.SIGUSR1, write_tasks)
    faulthandler.register(signal.SIGUSR1, file, all_threads=True, chain=True)


def _task_stacks() -> str:
    """Return the stacks of the tasks of this thread's event loop, if it runs one."""
    try:
        tasks = asyncio.all_tasks()
    except RuntimeError:
        return "no event loop\n"
    text = io.StringIO()
    for task in tasks:
        task.print_stack(file=text)
    return text.getvalue()


def keep_stacks(folder: Path, name: str, pids: Mapping[str, int]) -> Path:
    """Return a file with the stacks of these processes, by their names."""
    before = {pid: _size(folder, pid) for pid in pids.values()}
    for pid in pids.values():
        os.kill(pid, signal.SIGUSR1)
    parts = []
    for label, pid in pids.items():
        _wait_until_written(folder, pid, before[pid])
        written = folder / f"{pid}.txt"
        text = written.read_text()[before[pid] :] if written.exists() else "wrote nothing\n"
        parts.append(f"== {label}, process {pid}\n{text}\n{_threads(pid)}")
    kept = folder / f"{name}.stacks"
    kept.write_text("\n".join(parts))
    return kept


def _size(folder: Path, pid: int) -> int:
    written = folder / f"{pid}.txt"
    return len(written.read_text()) if written.exists() else 0


def _wait_until_written(folder: Path, pid: int, size: int) -> None:
    """Wait until a process has written something, and no more comes."""
    deadline = time.monotonic() + WRITING_S
    while time.monotonic() < deadline:
        time.sleep(QUIET_S)
        now = _size(folder, pid)
        if now > size:
            more = _size(folder, pid)
            if more == now:
                return
            size = now


def _threads(pid: int) -> str:
    """Return the names of a process's threads, those of libraries too, and where they wait."""
    lines = []
    for task in sorted(Path(f"/proc/{pid}/task").iterdir()):
        facts = [(task / name).read_text().strip() for name in ("comm", "wchan")]
        state = (task / "stat").read_text().rpartition(")")[2].split()[0]
        lines.append(f"thread {task.name} {facts[0]}: state {state}, in {facts[1] or '?'}\n")
    return "".join(lines)
