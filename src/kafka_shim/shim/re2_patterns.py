"""Regular expressions that RE2 runs, as real brokers run those of clients.

The time that a match takes grows with the text and with the expression, never exponentially.
"""

from functools import cache
from typing import Protocol, cast

from kafka_shim.text.extras import requires
from kafka_shim.text.logs import Log as Logger

EXPRESSION_BYTES_MAX = 4096
COMPILED_BYTES_MAX = 64 << 10
"""What RE2 may need for one expression; a match then takes a few milliseconds at most."""


class Pattern(Protocol):
    """A compiled expression."""

    def fullmatch(self, text: str) -> object | None:
        """Return a match of the whole text, or None."""


class InvalidPatternError(ValueError):
    """The text is not a valid RE2 expression, or is too large, or RE2 is not installed."""

    def __init__(self, reason: str, *, is_re2_missing: bool = False) -> None:
        super().__init__(reason)
        self.is_re2_missing = is_re2_missing


def compile_pattern(expression: str) -> Pattern:
    """Compile an expression.

    DEVIATION: expressions above the limits are also rejected; RE2/J accepts them.
    Raise InvalidPatternError if RE2 does not support the expression or is not installed.
    """
    if len(expression.encode()) > EXPRESSION_BYTES_MAX:
        raise InvalidPatternError(f"is longer than {EXPRESSION_BYTES_MAX} bytes")
    try:
        import re2  # noqa: PLC0415 - most brokers run without ever needing it
    except ImportError as error:
        message = requires("a client's regular expression", "regex")
        raise InvalidPatternError(message, is_re2_missing=True) from error
    options = re2.Options()
    options.max_mem = COMPILED_BYTES_MAX
    options.log_errors = False
    try:
        return cast("Pattern", re2.compile(expression, options))
    except re2.error as error:
        (reason,) = error.args
        text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise InvalidPatternError(text) from error
    finally:
        re2.purge()  # it would keep the last 128 expressions


logger = Logger("shim.patterns")


def compile_client_pattern(expression: str) -> Pattern:
    """Compile an expression of a client.

    Raise InvalidPatternError if RE2 does not support the expression or is not installed.
    """
    try:
        return compile_pattern(expression)
    except InvalidPatternError as error:
        if error.is_re2_missing:
            _warn_once(str(error))
        raise


@cache
def _warn_once(message: str) -> None:
    logger.warning(message)
