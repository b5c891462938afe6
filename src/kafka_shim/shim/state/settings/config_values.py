"""Reading the value of a setting as Kafka's ConfigDef does: by type, then by its check; durations
as Java reads them (ISO 8601): `P1DT2H`, `PT1.5S`.
"""

import math
import re
from collections.abc import Callable
from decimal import Decimal

from kafka_shim.protocol.api_versions import parse_minor_release, release_index
from kafka_shim.shim.state.settings.config_definitions import ConfigDefinition, ValueCheck

_INTEGER = r"[+-]?[0-9]{1,4000}"
# `int` refuses more digits
_BITS = {"short": 16, "int": 32, "long": 64}
_INNER_STEP = r"-IV\d+$"
_BEFORE_OURS = r"0\.(8|9|10)(\.\d)*"
_REPLICAS = r"(\d+:\d+)?"


class ConfigValueError(Exception):
    """A value that a setting cannot take; the text names both."""


def validated_canonical_value(name: str, definition: ConfigDefinition, value: str) -> str:
    """Return the value as a broker shows it. Raise ConfigValueError if the setting does not accept
    it.
    """
    text = _PARSERS.get(definition.type, _text_value)(name, definition.type, value.strip())
    if definition.check.is_list_of_distinct:
        text = _deduplicated_list_of_nonempty_elements(name, text)
    _validate_by_check(name, definition, text)
    return text


def list_elements(value: str) -> list[str]:
    """Return the elements of a list setting."""
    return [part.strip() for part in value.split(",")] if value.strip() else []


def _text_value(name: str, kind: str, value: str) -> str:  # noqa: ARG001 - one of the parsers
    return value


def _boolean_value(name: str, kind: str, value: str) -> str:  # noqa: ARG001 - one of the parsers
    if value.lower() not in ("true", "false"):
        raise ConfigValueError(f"invalid value `{value}` of {name}: expected true or false")
    return value.lower()


def _integer_value(name: str, kind: str, value: str) -> str:
    bits = _BITS[kind]
    if re.fullmatch(_INTEGER, value) is None or not -(1 << bits - 1) <= int(value) < 1 << bits - 1:
        raise ConfigValueError(f"invalid value `{value}` of {name}: expected a {bits}-bit integer")
    return str(int(value))


def _double_value(name: str, kind: str, value: str) -> str:  # noqa: ARG001 - one of the parsers
    from kafka_shim.shim.state.settings.config_values import java_double  # noqa: PLC0415 - few settings need it

    try:
        return java_double(float(value))
    except ValueError:
        raise ConfigValueError(f"invalid value `{value}` of {name}: expected a number") from None


def _list_value(name: str, kind: str, value: str) -> str:  # noqa: ARG001 - one of the parsers
    return ",".join(list_elements(value))


_PARSERS: dict[str, Callable[[str, str, str], str]] = {
    "boolean": _boolean_value,
    "short": _integer_value,
    "int": _integer_value,
    "long": _integer_value,
    "double": _double_value,
    "list": _list_value,
}


def _validate_by_check(name: str, definition: ConfigDefinition, value: str) -> None:
    check = definition.check
    if check.min is not None or check.max is not None:
        _validate_range(name, check, value)
    if check.one_of and not (check.allows_by_duration and _is_by_duration_reset(value)):
        _validate_allowed_value(name, check, value, check.one_of)
    for element in list_elements(value) if check.each_of else ():
        _validate_allowed_value(name, check, element, check.each_of)
    if check.must_not_be_empty and not value:
        raise ConfigValueError(f"{name} must not be empty")
    if (
        check.is_partition_replica_list
        and value not in ("", "*")
        and not all(map(_is_partition_replica_pair, value.split(",")))
    ):
        raise ConfigValueError(
            f"invalid value `{value}` of {name}: expected `*` or partition:broker pairs"
        )
    if check.is_release and not _is_release_up_to(value, check.newest_release):
        raise ConfigValueError(f"invalid value `{value}` of {name}: expected a Kafka release")


def _validate_range(name: str, check: ValueCheck, value: str) -> None:
    # Java's longs must not be rounded to floats here
    number = float(value) if any(mark in value for mark in ".Ny") else int(value)
    if number == check.also_allowed:
        return
    if check.min is not None and number < check.min:
        raise ConfigValueError(
            f"invalid value `{value}` of {name}: expected at least {check.min:.15g}"
        )
    if check.max is not None and number > check.max:
        raise ConfigValueError(
            f"invalid value `{value}` of {name}: expected at most {check.max:.15g}"
        )


def _validate_allowed_value(
    name: str, check: ValueCheck, value: str, allowed: tuple[str, ...]
) -> None:
    known = tuple(map(str.lower, allowed)) if check.ignore_case else allowed
    if (value.lower() if check.ignore_case else value) not in known:
        raise ConfigValueError(
            f"invalid value `{value}` of {name}: expected one of {', '.join(allowed)}"
        )


def _deduplicated_list_of_nonempty_elements(name: str, value: str) -> str:
    parts = list_elements(value)
    if "" in parts:
        raise ConfigValueError(f"invalid value `{value}` of {name}: an element is empty")
    return ",".join(dict.fromkeys(parts))


def _is_by_duration_reset(text: str) -> bool:
    kind, _, duration = text.partition(":")
    return kind == "by_duration" and duration_to_ms(duration) is not None


def _is_release_up_to(text: str, newest: str) -> bool:
    release = re.sub(_INNER_STEP, "", text)
    if re.fullmatch(_BEFORE_OURS, release):
        return True
    try:
        at = release_index(parse_minor_release(release))
    except ValueError:
        return False
    return not newest or at <= release_index(newest)


def _is_partition_replica_pair(text: str) -> bool:
    return re.fullmatch(_REPLICAS, text.strip()) is not None


_DURATION = r"(?i)P(?=[\dT])(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?"
_UNITS_MS = (86_400_000, 3_600_000, 60_000, 1000)


def duration_to_ms(duration: str) -> int | None:
    """Return a duration of days and less in milliseconds; None if it is none, or negative."""
    match = re.fullmatch(_DURATION, duration)
    if match is None:
        return None
    parts = zip(match.groups(), _UNITS_MS, strict=True)
    return sum(int(float(part) * unit) for part, unit in parts if part)


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
