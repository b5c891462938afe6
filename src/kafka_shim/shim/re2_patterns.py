"""Regular expressions that RE2 runs, as real brokers run those of clients.

The time that a match takes grows with the text and with the expression, never exponentially.
"""

from typing import Protocol, cast

from kafka_shim.extras import requires

EXPRESSION_BYTES_MAX = 4096
COMPILED_BYTES_MAX = 64 << 10
"""What RE2 may need for one expression; a match then takes a few milliseconds at most."""


class Pattern(Protocol):
    """A compiled expression."""

    def fullmatch(self, text: str) -> object | None:
        """Return a match of the whole text, or None."""


class InvalidPatternError(ValueError):
    """The text is not a valid RE2 expression, or is too large."""


class MissingRe2Error(InvalidPatternError):
    """RE2 is not installed, so no expression can be compiled."""


def compile_pattern(expression: str) -> Pattern:
    """Compile an expression.

    DEVIATION: expressions above the limits are also rejected; RE2/J accepts them.
    Raise InvalidPatternError if RE2 does not support the expression, MissingRe2Error without RE2.
    """
    if len(expression.encode()) > EXPRESSION_BYTES_MAX:
        raise InvalidPatternError(f"is longer than {EXPRESSION_BYTES_MAX} bytes")
    try:
        import re2  # noqa: PLC0415 - most brokers run without ever needing it
    except ImportError as error:
        raise MissingRe2Error(requires("a client's regular expression", "regex")) from error
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
