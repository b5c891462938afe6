"""How long processes have waited for a processor; a deadline may add it, since it is not theirs."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_NANOSECONDS = 1e9


def processor_wait_s(pid: int) -> float:
    """Return how long a process and its children were ready to run, but not running.

    The times of all threads are added. 0 where the system does not have this figure.
    """
    return sum(_thread_waits_ns(Path(f"/proc/{pid}"))) / _NANOSECONDS


def _thread_waits_ns(process: Path) -> Iterator[int]:
    with suppress(OSError):  # not Linux, or the process has ended
        for thread in (process / "task").iterdir():
            with suppress(OSError, ValueError, IndexError):  # the thread has ended
                yield int((thread / "schedstat").read_text().split()[1])
            with suppress(OSError):
                for child in (thread / "children").read_text().split():
                    yield from _thread_waits_ns(process.with_name(child))
