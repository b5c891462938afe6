"""The limit of open files, which also limits the number of connections."""

import asyncio
import errno
import sys
from typing import Any

from kafka_shim.shim.config import Limits

WANTED = Limits().connections_max + 1000
TELL_S = 10
_SHORT_OF = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM))


def expect_many_connections() -> None:
    """Raise the limit of open files, and report shortages once; call it on the broker's loop."""
    _make_room()
    Shortage().watch(asyncio.get_running_loop())


def _make_room() -> None:
    """Raise the soft limit of open files to the hard limit, as a JVM does."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED if hard == resource.RLIM_INFINITY else min(WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (OSError, ValueError):  # macOS has a lower limit that it does not report
            return


class Shortage:
    """Reports now and then that new connections wait.

    Asyncio alone would print a traceback each second.
    """

    def __init__(self) -> None:
        self._told_s = self._last_s = -float(TELL_S)

    def watch(self, loop: asyncio.AbstractEventLoop) -> None:
        loop.set_exception_handler(self._handle)

    def _handle(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in _SHORT_OF:
            self._last_s = loop.time()
            self._tell(error)
        elif not self._is_attempt_too_late(loop, context):
            loop.default_exception_handler(context)

    def _is_attempt_too_late(
        self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]
    ) -> bool:
        """Return whether asyncio failed only because it retried on a
        listener that is closed now.
        """
        is_timer = isinstance(context.get("handle"), asyncio.TimerHandle)
        is_closed = isinstance(context.get("exception"), ValueError)
        return is_timer and is_closed and loop.time() - self._last_s < TELL_S

    def _tell(self, error: OSError) -> None:
        if self._last_s - self._told_s < TELL_S:
            return
        self._told_s = self._last_s
        # no logging: it imports modules late, which needs open files
        said = f"{error.strerror}: new connections wait; raise `ulimit -n`, or connect fewer"
        print(f"kafka-shim: {said}", file=sys.stderr, flush=True)
