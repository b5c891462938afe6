"""Log lines: text on a console, or one JSON object per line.

structlog is imported at the first line: that takes a large part of the startup time, and many
brokers log nothing.
"""

import logging
import os
import re
import sys
from collections.abc import MutableMapping
from functools import cache
from typing import Any

LEVELS = {
    "none": logging.CRITICAL + 10,
    "error": logging.ERROR,
    "warn": logging.WARNING,
    "info": logging.INFO,
    "debug": logging.DEBUG,
}

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")

_chosen = {"format": "console"}


class Log:
    """A named logger: an event in words, and values by name."""

    __slots__ = ("_name", "_stdlib")

    def __init__(self, name: str) -> None:
        self._name = name
        self._stdlib = logging.getLogger(name)

    def debug(self, event: str, **values: object) -> None:
        if self._stdlib.isEnabledFor(logging.DEBUG):
            self._logger().debug(event, **values)

    def info(self, event: str, **values: object) -> None:
        if self._stdlib.isEnabledFor(logging.INFO):
            self._logger().info(event, **values)

    def warning(self, event: str, **values: object) -> None:
        if self._stdlib.isEnabledFor(logging.WARNING):
            self._logger().warning(event, **values)

    def error(self, event: str, **values: object) -> None:
        if self._stdlib.isEnabledFor(logging.ERROR):
            self._logger().error(event, **values)

    def exception(self, event: str, **values: object) -> None:
        """Log an error with the traceback of the current exception."""
        if self._stdlib.isEnabledFor(logging.ERROR):
            # not structlog's `exception`: with that the standard library prints the traceback too
            self._logger().error(event, exc_info=True, **values)

    def _logger(self) -> Any:
        return _rendering(self._name, _chosen["format"])


def set_up_logs(level: str, log_format: str) -> None:
    """Send every log line to standard error in the chosen form."""
    logging.basicConfig(level=LEVELS[level], stream=sys.stderr, format="%(message)s", force=True)
    _chosen["format"] = log_format


def prepare_logs() -> None:
    """Prepare now what the first line would have to wait for."""
    _rendering("shim", _chosen["format"])


def escape_control(_: object, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Escape control characters, so that a client's text cannot begin a line or move the cursor."""
    for key, value in event.items():
        if isinstance(value, str) and key != "exception":
            event[key] = printable(value)
    return event


def printable(text: str) -> str:
    """Return the text with escaped control characters."""
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


def may_colour() -> bool:
    """Return whether the terminal supports colours and they are wanted (https://no-color.org)."""
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stderr.isatty() and not is_plain


@cache
def _rendering(name: str, log_format: str) -> Any:
    """Return structlog's logger of that name."""
    import structlog  # noqa: PLC0415 - see the module's docstring

    renderer: structlog.typing.Processor
    if log_format == "json":
        renderer = structlog.processors.JSONRenderer()
    else:
        renderer = structlog.dev.ConsoleRenderer(colors=may_colour())
    return structlog.wrap_logger(
        logging.getLogger(name),
        processors=[
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            escape_control,
            renderer,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
    )
