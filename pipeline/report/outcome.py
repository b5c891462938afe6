"""What a job found, and how much it looked at."""

from typing import TYPE_CHECKING, Any

import msgspec

from pipeline.report.output import plain, write_parquet

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from pipeline.commands.reading import Source


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


def collected(job: str, frame: "DataFrame", shown: tuple[str, ...], parquet: str | None) -> Outcome:
    """The rows of a job; or, written to a folder, none of them but their number."""
    outcome = Outcome(job, frame.columns, list(shown), [], {}, [])
    if parquet:
        write_parquet(frame, parquet)
        outcome.notes.append(f"{frame.count()} rows written to {parquet}")
    else:
        outcome.rows = [row.asDict() for row in frame.collect()]
    return outcome


def damage_head(source: "Source") -> dict[str, Any]:
    places, size = source.damage()
    return {"damaged_blocks": places, "damaged_bytes": size}


def seen_head(accesses: "DataFrame") -> dict[str, Any]:
    """How many accesses were looked at, from when to when."""
    (total,) = accesses.selectExpr(
        "sum(requests) accesses",
        "count(*) distinct",
        "min(first_seen) first",
        "max(last_seen) last",
    ).collect()
    return {
        "accesses": total["accesses"] or 0,
        "distinct": total["distinct"],
        "first_seen": total["first"] and plain(total["first"]),
        "last_seen": total["last"] and plain(total["last"]),
    }


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
