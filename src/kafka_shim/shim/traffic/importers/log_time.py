"""The time of a line in a Kafka log."""

import re
from datetime import UTC, datetime

_TIME = re.compile(r"\[?(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)[,.](\d{3})")


def time_us(line: str) -> int | None:
    """Return microseconds since 1970; None without a time. Logs have no zone, so UTC is assumed."""
    found = _TIME.search(line[:60])
    if found is None:
        return None
    day, clock, thousandths = found.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=UTC)
    except ValueError:
        return None
    return int(moment.timestamp()) * 1_000_000 + int(thousandths) * 1000
