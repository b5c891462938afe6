"""The result of a job, and the amount of data that it read."""

from typing import Any

import msgspec


class Outcome(msgspec.Struct):
    """The result of a job.

    `shown` are the columns of the printed table; `text`, if set, is printed instead. `trend` has
    counts over time for a chart, `interval` apart. `has_broken`: `--fail` was given and there
    were findings. `is_wrong`: the result failed its own check. `parts`: the outcomes in a report.
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
    """Return the first line with the observed period, on which
    findings about unused ACLs depend.
    """
    text = f"{head['accesses']} accesses, {head['distinct']} different"
    if head["accesses"]:
        text += f", {head['first_seen']} to {head['last_seen']}"
    if head["super_users"]:
        text += f"; super users: {', '.join(head['super_users'])}"
    return text


def damage_notes(head: dict[str, Any]) -> list[str]:
    """Return a note if parts of the trace could not be read."""
    if not head["damaged_blocks"]:
        return []
    size = f"{head['damaged_blocks']} damaged places ({head['damaged_bytes']} bytes)"
    return [f"{size} left out; `kafka-shim pipeline damage` lists them"]
