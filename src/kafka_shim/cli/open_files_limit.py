"""The limit of open files, which also limits the number of connections."""

import asyncio
import errno
import sys
from typing import Any

from kafka_shim.shim.config import Limits

DESIRED_LIMIT = Limits().connections_max + 1000
REPORT_INTERVAL_S = 10
_SHORT_OF = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM))


def raise_limit() -> None:
    """Raise the limit of open files, and report shortages once; call it on the broker's loop."""
    _raise_open_files_limit()
    ShortageReporter().install_exception_handler(asyncio.get_running_loop())


def _raise_open_files_limit() -> None:
    """Raise the soft limit of open files to the hard limit, as a JVM does."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    new_limit = DESIRED_LIMIT if hard == resource.RLIM_INFINITY else min(DESIRED_LIMIT, hard)
    if soft != resource.RLIM_INFINITY and soft < new_limit:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (new_limit, hard))
        except (OSError, ValueError):  # macOS has a lower limit that it does not report
            return


class ShortageReporter:
    """Reports now and then that new connections wait.

    Asyncio alone would print a traceback each second.
    """

    def __init__(self) -> None:
        self._reported_s = self._last_s = -float(REPORT_INTERVAL_S)

    def install_exception_handler(self, loop: asyncio.AbstractEventLoop) -> None:
        loop.set_exception_handler(self._handle_loop_exception)

    def _handle_loop_exception(
        self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]
    ) -> None:
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in _SHORT_OF:
            self._last_s = loop.time()
            self._log_shortage(error)
        elif not self._is_closed_listener_error(loop, context):
            loop.default_exception_handler(context)

    def _is_closed_listener_error(
        self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]
    ) -> bool:
        """Return whether asyncio failed only because it retried on a
        listener that is closed now.
        """
        is_timer = isinstance(context.get("handle"), asyncio.TimerHandle)
        is_closed = isinstance(context.get("exception"), ValueError)
        return is_timer and is_closed and loop.time() - self._last_s < REPORT_INTERVAL_S

    def _log_shortage(self, error: OSError) -> None:
        if self._last_s - self._reported_s < REPORT_INTERVAL_S:
            return
        self._reported_s = self._last_s
        # no logging: it imports modules late, which needs open files
        said = f"{error.strerror}: new connections wait; raise `ulimit -n`, or connect fewer"
        print(f"kafka-shim: {said}", file=sys.stderr, flush=True)
