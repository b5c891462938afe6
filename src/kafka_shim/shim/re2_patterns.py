"""Regular expressions that clients send, run by RE2 as real brokers run them.

The time that a match takes grows with the text and with the expression, never exponentially.
"""

from typing import Protocol, cast

EXPRESSION_BYTES_MAX = 4096
COMPILED_BYTES_MAX = 64 << 10
"""What RE2 may need for one expression; a match then takes a few milliseconds at most."""


class Pattern(Protocol):
    """A compiled expression."""

    def fullmatch(self, text: str) -> object | None:
        """Return a match of the whole text, or None."""


class InvalidPatternError(ValueError):
    """The text is not a valid RE2 expression, or is too large."""


def compile_pattern(expression: str) -> Pattern:
    """Compile an expression. Raise InvalidPatternError if RE2 does not support it.

    DEVIATION: expressions above the limits are also rejected; RE2/J accepts them.
    """
    if len(expression.encode()) > EXPRESSION_BYTES_MAX:
        raise InvalidPatternError(f"is longer than {EXPRESSION_BYTES_MAX} bytes")
    import re2  # noqa: PLC0415 - most brokers run without ever needing it

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
