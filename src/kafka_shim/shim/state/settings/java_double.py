"""Doubles as Java writes them: `Double.toString` up to JDK 18, under which brokers run.

Those releases do not always write the shortest digits (2e23 is
`1.9999999999999998E23`). JDK 19 and later do (JDK-4511638). The digits come
from `jdk.internal.math.FloatingDecimal`: Steele and White's algorithm, with its arithmetic in 32
and 64 bits where the numbers are small.
"""

import math
import struct
from typing import Final, NamedTuple

_MANTISSA_BITS: Final = 52
_BIAS: Final = 1023
_SMALLEST_INTEGER_EXPONENT: Final = -21
_LARGEST_INTEGER_EXPONENT: Final = 62
_TABLE_SIZE: Final = 27
"""Number of powers of 5 that fit in a long; Java estimates the bits of greater ones."""


class _Digits(NamedTuple):
    """Decimal digits: 0.DIGITS times 10 to the power of `exponent`."""

    digits: str
    exponent: int


class _Scaled(NamedTuple):
    """A value as a fraction `numerator` / `denominator`, and half the distance to its neighbours
    as `margin` / `denominator`; `bits` is the size of Java's arithmetic, or 0 for big integers.
    """

    numerator: int
    denominator: int
    margin: int
    bits: int


def java_double(value: float) -> str:
    """Return `Double.toString(value)` of JDK 17."""
    if math.isnan(value):
        return "NaN"
    sign = "-" if math.copysign(1, value) < 0 else ""
    if math.isinf(value):
        return f"{sign}Infinity"
    return sign + ("0.0" if value == 0 else _format_as_java(_digits(abs(value))))


def _format_as_java(number: _Digits) -> str:
    digits, exponent = number
    if 0 < exponent < 8:
        return f"{digits[:exponent].ljust(exponent, '0')}.{digits[exponent:] or '0'}"
    if -3 < exponent <= 0:
        return f"0.{'0' * -exponent}{digits}"
    return f"{digits[0]}.{digits[1:] or '0'}E{exponent - 1}"


def _digits(value: float) -> _Digits:
    (bits,) = struct.unpack(">q", struct.pack(">d", value))
    fraction, exponent = bits & ((1 << _MANTISSA_BITS) - 1), bits >> _MANTISSA_BITS
    significant_bits = _MANTISSA_BITS + 1
    if exponent:
        fraction |= 1 << _MANTISSA_BITS
    else:
        significant_bits = fraction.bit_length()
        shift = _MANTISSA_BITS + 1 - significant_bits
        fraction <<= shift
        exponent = 1 - shift
    exponent -= _BIAS
    if exponent <= _LARGEST_INTEGER_EXPONENT and _is_integer(fraction, exponent):
        return _integer_digits(fraction, exponent, significant_bits)
    return _fraction_digits(fraction, exponent, significant_bits)


def _is_integer(fraction: int, exponent: int) -> bool:
    return exponent >= _bits_up_to_last_one(fraction) - 1


def _bits_up_to_last_one(fraction: int) -> int:
    """Return the number of bits up to the last 1."""
    return _MANTISSA_BITS + 2 - (fraction & -fraction).bit_length()


def _integer_digits(fraction: int, exponent: int, significant_bits: int) -> _Digits:
    """Return the digits of a whole number, without those beyond its precision."""
    shift = exponent - _MANTISSA_BITS
    number = fraction << shift if shift >= 0 else fraction >> -shift
    dropped = 0
    if exponent > significant_bits:
        dropped = _insignificant_decimal_digits_of_power_of_2(exponent - significant_bits - 1)
        unit = 10**dropped
        number, rest = divmod(number, unit)
        number += dropped > 0 and rest >= unit >> 1
    digits = str(number)
    return _Digits(digits.rstrip("0"), len(digits) + dropped)


def _insignificant_decimal_digits_of_power_of_2(power: int) -> int:
    """Return how many decimal digits a power of 2 makes insignificant."""
    return len(str(1 << power)) - 1 if power > 1 else 0


def _fraction_digits(fraction: int, exponent: int, significant_bits: int) -> _Digits:
    decimal_exponent = _estimated_exponent(fraction, exponent)
    scaled = _scaled(fraction, exponent, significant_bits, decimal_exponent)
    return _shortest_identifying_digits(scaled, decimal_exponent)


def _estimated_exponent(fraction: int, exponent: int) -> int:
    """Return the decimal exponent, or one more."""
    mantissa = fraction / (1 << _MANTISSA_BITS)
    return math.floor(
        (mantissa - 1.5) * 0.289529654 + 0.176091259 + float(exponent) * 0.301029995663981
    )


def _scaled(fraction: int, exponent: int, significant_bits: int, decimal_exponent: int) -> _Scaled:
    fraction_bits = _bits_up_to_last_one(fraction)
    tiny_bits = max(0, fraction_bits - exponent - 1)
    value_fives = margin_fives = max(0, -decimal_exponent)
    value_twos = value_fives + tiny_bits + exponent
    unit_fives = max(0, decimal_exponent)
    unit_twos = unit_fives + tiny_bits
    margin_twos = value_twos - significant_bits
    fraction >>= _MANTISSA_BITS + 1 - fraction_bits
    value_twos -= fraction_bits - 1
    common = min(value_twos, unit_twos)
    value_twos, unit_twos, margin_twos = (
        value_twos - common,
        unit_twos - common,
        margin_twos - common,
    )
    if fraction_bits == 1:  # the lower neighbour of a power of 2 is nearer
        margin_twos -= 1
    if margin_twos < 0:
        value_twos, unit_twos, margin_twos = value_twos - margin_twos, unit_twos - margin_twos, 0
    value_size = fraction_bits + value_twos + _bits_of_power_of_5(value_fives)
    unit_size = unit_twos + 1 + _bits_of_power_of_5(unit_fives + 1)
    largest = max(value_size, unit_size)
    return _Scaled(
        fraction * 5**value_fives << value_twos,
        5**unit_fives << unit_twos,
        5**margin_fives << margin_twos,
        32 if largest < 32 else 64 if largest < 64 else 0,
    )


def _bits_of_power_of_5(power: int) -> int:
    if power >= _TABLE_SIZE:
        return power * 3
    return (5**power).bit_length() if power else 0


def _shortest_identifying_digits(scaled: _Scaled, decimal_exponent: int) -> _Digits:
    """Generate digits until they identify the value."""
    value, unit, margin, bits = scaled
    ten_units = unit * 10
    digit, rest = divmod(value, unit)
    value, margin = rest * 10, _wrap_to_bits(margin * 10, bits)
    low, high = _margin_comparisons(value, margin, ten_units, bits)
    digits: list[int] = []
    if digit == 0 and not high:
        decimal_exponent -= 1
    else:
        digits.append(digit)
    if not -3 <= decimal_exponent < 8:  # two digits at least where there is an exponent
        low = high = False
    while not (low or high):
        digit, rest = divmod(value, unit)
        value, margin = rest * 10, _wrap_to_bits(margin * 10, bits)
        low = high = True
        if margin > 0:
            low, high = _margin_comparisons(value, margin, ten_units, bits)
        digits.append(digit)
    difference = _wrap_to_bits((value << 1) - ten_units, bits)
    if high and (not low or difference > 0 or (difference == 0 and digits[-1] % 2)):
        return _rounded_up(digits, decimal_exponent + 1)
    return _Digits("".join(map(str, digits)), decimal_exponent + 1)


def _margin_comparisons(value: int, margin: int, ten_units: int, bits: int) -> tuple[bool, bool]:
    """Return whether the digits so far are within the margin, and whether the next higher are."""
    upper = _wrap_to_bits(value + margin, bits)
    return value < margin, upper > ten_units if bits else upper >= ten_units


def _wrap_to_bits(number: int, bits: int) -> int:
    """Return a number as Java's int or long holds it."""
    if not bits:
        return number
    half = 1 << bits - 1
    return ((number + half) & ((half << 1) - 1)) - half


def _rounded_up(digits: list[int], exponent: int) -> _Digits:
    at = len(digits) - 1
    while digits[at] == 9 and at > 0:
        digits[at] = 0
        at -= 1
    if digits[at] == 9:
        digits[at] = 1
        exponent += 1
    else:
        digits[at] += 1
    return _Digits("".join(map(str, digits)), exponent)
