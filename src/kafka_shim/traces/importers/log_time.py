"""The time of an entry in a log, in the formats of log4j, Docker, Kubernetes and log services.

A time without a zone is in the zone that the user names. A time without a date is an error: the
year 1970 is never assumed.
"""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo


class LogTimeError(ValueError):
    """A time that cannot be read, and why."""


class LogTime(NamedTuple):
    """Microseconds since 1970; `has_zone` is false if the user's zone was applied."""

    us: int
    has_zone: bool


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CLOCK = r"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?"
_AREAS = "Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Etc|Europe|Indian|Pacific|US"
_ZONE = (
    r"(?:\s?(?:UTC|GMT)?(?P<zone>Z|[+-]\d\d:?\d\d|[+-]\d\d|(?<=[CT])[+-]\d(?::\d\d)?)\b"
    rf"|\s(?P<zone_name>(?!INFO|WARN|FINE)[A-Z]{{3,4}}|(?:{_AREAS})/[\w/+-]+)\b)?"
)
_HALF = r"(?:\s(?P<half>AM|PM))?"
_MONTH = r"(?P<month_name>[A-Z][a-z]{2})[a-z]*\.?"
_DATES = (
    r"(?P<year>\d{4})[-/](?P<month>\d\d)[-/](?P<day>\d\d)(?:T|\s+)",
    rf"(?P<day>\d?\d)[ /-]{_MONTH}[ /-](?P<year>\d{{4}})[ :,]\s?",
    rf"{_MONTH}\s+(?P<day>\d?\d),?\s(?P<year>\d{{4}}),?\s",
    r"(?P<day>\d\d)\.(?P<month>\d\d)\.(?P<year>\d{4}),?\s",
)
_FORMATS = (
    *(re.compile(rf"(?<![\w.:-]){date}{_CLOCK}{_HALF}{_ZONE}") for date in _DATES),
    re.compile(  # log4j2's COMPACT and ISO8601_BASIC
        r"(?<!\w)(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)T?(?P<hour>\d\d)(?P<minute>\d\d)"
        rf"(?P<second>\d\d)[.,]?(?P<fraction>\d{{3,9}}){_ZONE}(?!\w)"
    ),
    re.compile(  # date(1), and Java's Date
        rf"{_MONTH}\s+(?P<day>\d?\d)\s{_CLOCK}{_ZONE}\s(?P<year>\d{{4}})(?!\w)"
    ),
)
_EPOCH = re.compile(r"^\W*(\d{10}(?:\d{3}|\d{6}|\d{9})?(?:\.\d{1,9})?)(?!\w)")
_DATELESS = re.compile(r"(?<![\d:])\d\d:\d\d:\d\d(?![\d:])")
_UTC_NAMES = frozenset({"UTC", "GMT"})
_UNITS = ((1e11, 1_000_000), (1e14, 1_000), (1e17, 1))
"""An epoch number below the first is in units of so many microseconds; above all, nanoseconds."""


def time_before_message(text: str, zone: tzinfo | None = None) -> LogTime | None:
    """Return the time in the text before a message; None if it has none.

    Of several times, the last one with a zone counts, else the last one. `zone` is that of times
    without one (default: UTC). Raise LogTimeError if there is a time that cannot be read.
    """
    moments = [
        _time_from_match(match, zone) for pattern in _FORMATS for match in pattern.finditer(text)
    ]
    with_zone = next((time for time in reversed(moments) if time.has_zone), None)
    epoch = _EPOCH.match(text)
    if with_zone is None and epoch is not None:
        return epoch_time(float(epoch[1]) if "." in epoch[1] else int(epoch[1]))
    if moments:
        return with_zone or moments[-1]
    if _DATELESS.search(text) is not None:
        raise LogTimeError("its time has no date and year that can be read")
    return None


def epoch_time(value: float) -> LogTime | None:
    """Return the time of a number of seconds, milli-, micro- or nanoseconds since 1970."""
    if value < 1e8:  # 1973: no log has it
        return None
    for limit, microseconds in _UNITS:
        if value < limit:
            return LogTime(int(value * microseconds), has_zone=True)
    return LogTime(int(value) // 1_000, has_zone=True)


def json_time(value: Any, zone: tzinfo | None = None) -> LogTime | None:
    """Return the time in a field of a JSON log; None if it is none. Raise LogTimeError."""
    if isinstance(value, dict):  # log4j2's `instant`
        seconds, nanoseconds = value.get("epochSecond"), value.get("nanoOfSecond", 0)
        if isinstance(seconds, int) and isinstance(nanoseconds, int):
            return LogTime(seconds * 1_000_000 + nanoseconds // 1_000, has_zone=True)
        return None
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return epoch_time(value)
    if isinstance(value, str):
        return epoch_time(int(value)) if value.isdecimal() else time_before_message(value, zone)
    return None


def _time_from_match(match: re.Match[str], zone: tzinfo | None) -> LogTime:
    groups = match.groupdict()
    offset, has_zone = _time_zone(groups["zone"], groups["zone_name"], zone)
    try:
        moment = datetime(
            int(groups["year"]),
            _month_number(groups),
            int(groups["day"]),
            _hour_of_day(int(groups["hour"]), groups.get("half")),
            int(groups["minute"]),
            int(groups["second"]),
            tzinfo=offset,
        )
    except ValueError as error:
        raise LogTimeError(f"invalid time `{match[0]}`: {error}") from error
    fraction = (groups["fraction"] or "").ljust(6, "0")[:6]
    return LogTime(int(moment.timestamp()) * 1_000_000 + int(fraction), has_zone)


def _month_number(groups: dict[str, str]) -> int:
    if groups.get("month") is not None:
        return int(groups["month"])
    name = groups["month_name"].lower()
    if name not in _MONTHS:
        raise ValueError(f"unknown month `{groups['month_name']}`")
    return _MONTHS.index(name) + 1


def _hour_of_day(hour: int, am_pm: str | None) -> int:
    return hour if am_pm is None else hour % 12 + 12 * (am_pm == "PM")


def _time_zone(offset: str | None, name: str | None, default: tzinfo | None) -> tuple[tzinfo, bool]:
    if offset == "Z" or name in _UTC_NAMES:
        return UTC, True
    if offset is not None:
        digits = offset[1:].replace(":", "").zfill(2)
        hours, minutes = (digits[:-2], digits[-2:]) if len(digits) > 2 else (digits, "0")
        difference = timedelta(hours=int(hours), minutes=int(minutes))
        return timezone(-difference if offset[0] == "-" else difference), True
    if name is not None and "/" in name:
        try:
            return ZoneInfo(name), True
        except (ValueError, OSError, KeyError):
            raise LogTimeError(f"unknown time zone {name}") from None
    if name is not None and default is None:
        raise LogTimeError(f"the abbreviation of its time zone, {name}, is ambiguous")
    return default or UTC, False
