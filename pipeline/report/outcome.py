"""What a job found, and how much it looked at."""

from typing import Any

import msgspec


class Outcome(msgspec.Struct):
    """What a job found. `shown` are the columns of the table; `text`, if any, is all to print.

    `trend` are counts over time for a plot, `interval` how far apart. `has_broken`: `--fail` was
    given and something was found. `is_wrong`: a result did not stand its own check. `parts`: the
    outcomes that a report is made of.
    """

    job: str
    columns: list[str]
    shown: list[str]
    rows: list[dict[str, Any]]
    head: dict[str, Any]
    notes: list[str]
    text: str | None = None
    trend: list[dict[str, Any]] = []
    interval: str = ""
    has_broken: bool = False
    is_wrong: bool = False
    parts: list["Outcome"] = []


def seen_note(head: dict[str, Any]) -> str:
    """The first line: how long was looked matters to what is said not to be used."""
    text = f"{head['accesses']} accesses, {head['distinct']} different"
    if head["accesses"]:
        text += f", {head['first_seen']} to {head['last_seen']}"
    if head["super_users"]:
        text += f"; super users: {', '.join(head['super_users'])}"
    return text


def damage_notes(head: dict[str, Any]) -> list[str]:
    """A line if anything could not be read."""
    if not head["damaged_blocks"]:
        return []
    size = f"{head['damaged_blocks']} damaged places ({head['damaged_bytes']} bytes)"
    return [f"{size} left out; `kafka-shim pipeline damage` lists them"]
