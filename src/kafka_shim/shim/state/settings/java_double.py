"""Doubles in the form of Java's `Double.toString`."""

import math
from decimal import Decimal


def java_double(value: float) -> str:
    """Return a double as Java writes it, with the fewest digits that identify it.

    JDK 18 and earlier write more for some values of 16 digits and from 2^53 on (2e23).
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    mantissa, exponent = f"{Decimal(repr(value)).normalize():E}".split("E")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}E{int(exponent)}"
