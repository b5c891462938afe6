"""Log lines: for people on a console, or one JSON object each."""

import logging
import re
import sys

import structlog

LEVELS = {
    "none": logging.CRITICAL + 10,
    "error": logging.ERROR,
    "warn": logging.WARNING,
    "info": logging.INFO,
    "debug": logging.DEBUG,
}


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def escape_control(
    _: object, __: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """Names come from clients: no text of theirs may begin a line or move the cursor."""
    for key, value in event.items():
        if isinstance(value, str) and key != "exception":
            event[key] = _CONTROL.sub(lambda found: ascii(found[0])[1:-1], value)
    return event


def set_up_logs(level: str, log_format: str) -> None:
    """Send every log line to standard error in the chosen form."""
    renderer: structlog.typing.Processor
    if log_format == "json":
        renderer = structlog.processors.JSONRenderer()
    else:
        renderer = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    logging.basicConfig(level=LEVELS[level], stream=sys.stderr, format="%(message)s", force=True)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            escape_control,
            renderer,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
