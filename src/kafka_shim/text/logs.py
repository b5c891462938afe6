"""Log lines: text on a console, or one JSON object per line.

structlog is imported at the first line: that takes 2 to 8 MiB (with `rich`, which it uses if it is
installed) and as long as a third of the start, and many brokers log nothing. In a process that is
only a broker, a thread imports it, so that no request waits for that.
"""

import logging
import os
import select
import sys
import threading
import time
from collections import deque
from collections.abc import MutableMapping
from functools import cache
from typing import Any, NamedTuple, TextIO

from kafka_shim.text.message_text import escaped

LEVELS = {
    "none": logging.CRITICAL + 10,
    "error": logging.ERROR,
    "warn": logging.WARNING,
    "info": logging.INFO,
    "debug": logging.DEBUG,
}

LINES_MAX = 10_000
"""Lines that wait for a reader."""
LAST_WAIT_S = 0.5
"""How long the end of the process waits for a reader."""
RETRY_S = 0.01


_chosen = {"format": "console"}


class Log:
    """A named logger: an event in words, and values by name."""

    __slots__ = ("_name", "_stdlib")

    def __init__(self, name: str) -> None:
        self._name = name
        self._stdlib = logging.getLogger(name)

    def debug(self, event: str, **values: object) -> None:
        if self._stdlib.isEnabledFor(logging.DEBUG):
            _write(LogLine(self._name, "debug", event, values))

    def info(self, event: str, **values: object) -> None:
        if self._stdlib.isEnabledFor(logging.INFO):
            _write(LogLine(self._name, "info", event, values))

    def warning(self, event: str, **values: object) -> None:
        if self._stdlib.isEnabledFor(logging.WARNING):
            _write(LogLine(self._name, "warning", event, values))

    def error(self, event: str, **values: object) -> None:
        if self._stdlib.isEnabledFor(logging.ERROR):
            _write(LogLine(self._name, "error", event, values))

    def exception(self, event: str, **values: object) -> None:
        """Log an error with the traceback of the current exception."""
        if self._stdlib.isEnabledFor(logging.ERROR):
            # not structlog's `exception`: with that the standard library prints the traceback too
            values["exc_info"] = sys.exc_info()
            _write(LogLine(self._name, "error", event, values))


class CopyableText(str):
    """A value for people to copy: a console has it in quotes, but as it is.

    Other values are printed as Python writes them, which doubles a backslash.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"'{self}'"


class LogLine(NamedTuple):
    """An event in words, and values by name."""

    logger_name: str
    level: str
    event: str
    values: dict[str, object]

    def write(self) -> None:
        logger = _create_structlog_logger(self.logger_name, _chosen["format"])
        getattr(logger, self.level)(self.event, **self.values)


class StructlogImportThread:
    """Imports structlog in a thread, and then writes the lines of the event loop so far."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: deque[LogLine] = deque()
        self._is_started = self._is_done = False

    def queue(self, line: LogLine) -> bool:
        """Return whether the thread will write the line; if not, there is no line before it."""
        with self._lock:
            if self._is_done or not (self._is_started or _is_in_event_loop()):
                return False
            self._lines.append(line)
            if not self._is_started:
                self._is_started = True
                threading.Thread(target=self._write_lines, name="structlog").start()
            return True

    def _write_lines(self) -> None:
        try:
            while (line := self._take_line()) is not None:
                line.write()
        finally:
            self._is_done = True  # also if a line cannot be written

    def _take_line(self) -> LogLine | None:
        with self._lock:
            self._is_done = not self._lines
            return self._lines.popleft() if self._lines else None


def _is_in_event_loop() -> bool:
    asyncio = sys.modules.get("asyncio")  # the state, which does no I/O, imports this module
    return asyncio is not None and asyncio._get_running_loop() is not None


_importing_thread: StructlogImportThread | None = None


def _write(line: LogLine) -> None:
    if _importing_thread is None or not _importing_thread.queue(line):
        line.write()


def configure_logging(level: str, log_format: str) -> None:
    """Send every log line to standard error in the chosen form, without waiting for a reader."""
    handler = NonBlockingHandler(sys.stderr)
    logging.basicConfig(level=LEVELS[level], handlers=[handler], format="%(message)s", force=True)
    _chosen["format"] = log_format


def import_structlog_in_thread() -> None:
    """Import structlog in a thread, at the first line: for processes that are only a broker, since
    lines may be written later than they are logged.
    """
    global _importing_thread  # noqa: PLW0603 - the process has one
    if "structlog" not in sys.modules:
        _importing_thread = StructlogImportThread()


class NonBlockingHandler(logging.StreamHandler[TextIO]):
    """Writes lines to a pipe or terminal as long as it takes them immediately.

    If nobody reads them, up to LINES_MAX lines wait in memory, and further ones are only counted.
    A thread, which runs only then, writes the waiting lines when somebody reads again.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._descriptor = _pollable_descriptor(stream)
        self._condition = threading.Condition()
        self._waiting: deque[bytes] = deque()
        self._dropped = 0
        self._is_stuck = False

    def emit(self, record: logging.LogRecord) -> None:
        if self._descriptor is None:
            super().emit(record)
            return
        try:
            line = f"{self.format(record)}{self.terminator}".encode(errors="backslashreplace")
        except (TypeError, ValueError):  # values that do not fit the message
            self.handleError(record)
            return
        with self._condition:
            if self._is_stuck:
                self._queue(line)
                return
            rest = _write_nonblocking(self._descriptor, line, wait=False)
            if rest:
                self._is_stuck = True
                self._waiting.append(rest)
                threading.Thread(target=self._write_waiting_lines, name="logs", daemon=True).start()

    def flush(self) -> None:
        """Wait a moment for the lines that wait, for example at the end of the process."""
        if self._descriptor is None:
            super().flush()
            return
        with self._condition:
            self._condition.wait_for(lambda: not self._is_stuck, LAST_WAIT_S)

    def _queue(self, line: bytes) -> None:
        if len(self._waiting) < LINES_MAX:
            self._waiting.append(line)
        else:
            self._dropped += 1

    def _write_waiting_lines(self) -> None:
        """Write the waiting lines, in a thread that may wait for a reader."""
        assert self._descriptor is not None
        while True:
            with self._condition:
                if not self._waiting and self._dropped:
                    text = f"{self._dropped} log lines were dropped, since nobody read them\n"
                    self._waiting.append(text.encode())
                    self._dropped = 0
                if not self._waiting:
                    self._is_stuck = False
                    self._condition.notify_all()
                    return
                line = self._waiting.popleft()
            _write_nonblocking(self._descriptor, line, wait=True)


def _pollable_descriptor(stream: TextIO) -> int | None:
    """Return the descriptor of a stream that can be polled, None for any other one."""
    if not hasattr(select, "poll"):
        return None
    try:
        stream.flush()
        return stream.fileno()
    except (OSError, ValueError):
        return None


def _write_nonblocking(descriptor: int, data: bytes, *, wait: bool) -> bytes:
    """Write data; return what is left if that would have to wait, which `wait` allows.

    A pipe that is ready takes PIPE_BUF bytes. If its reader has gone, the data is lost.
    """
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    while data:
        if not poll.poll(None if wait else 0):
            return data
        try:
            count = os.write(descriptor, data[: select.PIPE_BUF])
        except BlockingIOError:
            time.sleep(RETRY_S)
            continue
        except OSError:
            return b""
        data = data[count:]
    return b""


def escape_control_processor(
    _: object, __: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Escape control characters, so that a client's text cannot begin a line or move the cursor."""
    for key, value in event.items():
        if isinstance(value, str) and key != "exception":
            event[key] = type(value)(escaped(value))
    return event


def stderr_supports_colours() -> bool:
    """Return whether the terminal supports colours and they are wanted (https://no-color.org)."""
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stderr.isatty() and not is_plain


@cache
def _create_structlog_logger(name: str, log_format: str) -> Any:
    """Return structlog's logger of that name."""
    import structlog  # noqa: PLC0415 - see the module's docstring

    renderer: structlog.typing.Processor
    if log_format == "json":
        renderer = structlog.processors.JSONRenderer()
    else:
        renderer = structlog.dev.ConsoleRenderer(colors=stderr_supports_colours())
    return structlog.wrap_logger(
        logging.getLogger(name),
        processors=[
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            escape_control_processor,
            renderer,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
    )
