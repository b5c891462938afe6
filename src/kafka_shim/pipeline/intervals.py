"""Intervals: parse those of options, choose one for a time span."""

import math
import re
from datetime import datetime, timedelta
from typing import Any

from kafka_shim.pipeline.errors import PipelineError

INTERVALS_MAX = 60
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800]
_STEPS += [hours * 3600 for hours in (1, 2, 3, 6, 12, 24, 48, 168, 720, 2160, 8760)]


def parse_interval_seconds(text: str) -> int:
    """Parse `10 seconds`, `1 minute`, `2 hours` or `1 day` to seconds. Raise PipelineError
    otherwise.
    """
    found = re.fullmatch(r"\s*(\d+)\s*(second|minute|hour|day)s?\s*", text)
    if found is None or int(found[1]) == 0:
        raise PipelineError(
            f"invalid interval `{text}`; expected one such as `10 seconds` or `1 day`"
        )
    return int(found[1]) * _SECONDS[found[2]]


def interval_start_sql(time: str, step_us: int) -> str:
    """Return the SQL for the beginning of the interval that contains a time."""
    return f"timestamp_micros(unix_micros({time}) - unix_micros({time}) % {step_us})"


def describe_interval(text: str) -> str:
    """Return how often an interval begins: `each second`, `every 5 minutes`."""
    seconds = parse_interval_seconds(text)
    unit, size = max(
        (pair for pair in _SECONDS.items() if seconds % pair[1] == 0), key=lambda pair: pair[1]
    )
    return f"each {unit}" if seconds == size else f"every {seconds // size} {unit}s"


def round_interval_for_span(span: timedelta) -> str:
    """Return a round interval that divides the span into at most about sixty parts."""
    wanted = span.total_seconds() / INTERVALS_MAX
    return f"{round_up_seconds(wanted)} seconds"


def interval_for_observation(totals: dict[str, Any]) -> str:
    """Return an interval for the observed time span."""
    if not totals["accesses"]:
        return round_interval_for_span(timedelta())
    first, last = (datetime.fromisoformat(totals[name]) for name in ("first_seen", "last_seen"))
    return round_interval_for_span(last - first)


def round_up_seconds(seconds: float) -> int:
    """Return the next round number of seconds; above a year, a whole number of years."""
    for step in _STEPS:
        if step >= seconds:
            return step
    return _STEPS[-1] * -int(-seconds // _STEPS[-1])


def axis_tick_values(largest: float) -> list[int]:
    """Return about four round values from 0 to at least `largest`, such as 0, 20, 40, 60."""
    scale = 10 ** max(0, math.floor(math.log10(max(largest, 1) / 4)))
    step = next(scale * n for n in (1, 2, 5, 10) if scale * n * 4 >= largest)
    return [step * n for n in range(math.ceil(max(largest, 1) / step) + 1)]
