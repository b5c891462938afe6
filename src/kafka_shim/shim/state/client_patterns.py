"""Regular expressions that clients send; a missing RE2 is logged once."""

from functools import cache

from kafka_shim.shim.re2_patterns import InvalidPatternError, Pattern, compile_pattern
from kafka_shim.text.logs import Log as Logger

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
