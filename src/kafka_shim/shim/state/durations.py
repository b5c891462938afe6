"""Durations in settings, as Java reads them (ISO 8601): `P1DT2H`, `PT1.5S`."""

import re

_DURATION = re.compile(
    r"P(?=[\dT])(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?", re.IGNORECASE
)
_UNITS_MS = (86_400_000, 3_600_000, 60_000, 1000)


def milliseconds(duration: str) -> int | None:
    """Return a duration of days and less in milliseconds; None if it is none, or negative."""
    match = _DURATION.fullmatch(duration)
    if match is None:
        return None
    parts = zip(match.groups(), _UNITS_MS, strict=True)
    return sum(int(float(part) * unit) for part, unit in parts if part)
