"""The summary of a report: what breaks, what was denied, what is unused, and how sure that is."""

from collections.abc import Iterable
from typing import Any

from kafka_shim.pipeline.report.outcome import (
    Outcome,
    damage_notes,
    left_out_notes,
    observation_note,
)


def summary_notes(parts: Iterable[Outcome], totals: dict[str, Any]) -> list[str]:
    """Return a line for each question that a report answers, and what its answers depend on."""
    by_job = {part.job: part for part in parts}
    return [
        _breaks_note(by_job.get("what-breaks")),
        _denied_note(by_job["denials"]),
        _unused_note(by_job.get("unused-acls")),
        f"Based on {observation_note(totals)}.",
        *left_out_notes(totals),
        *damage_notes(totals),
    ]


def _breaks_note(what_breaks: Outcome | None) -> str:
    if what_breaks is None:
        return "What breaks: not examined; --candidate FILE compares new ACLs with the accesses."
    totals = what_breaks.totals
    return (
        "What breaks:"
        f" {_plural(totals['newly_denied'], 'different access', 'different accesses')} would newly"
        f" be denied, and {_plural(totals['requests_newly_failing'], 'request', 'requests')} newly"
        f" fail, with the ACLs of --candidate{_incompleteness(what_breaks)}."
    )


def _denied_note(denials: Outcome) -> str:
    accesses = sum(row["requests"] for row in denials.rows)
    principals = {row["principal"] for row in denials.rows}
    if not accesses:
        return "Denied: nothing."
    return (
        f"Denied: {_plural(accesses, 'access', 'accesses')} of"
        f" {_plural(len(principals), 'principal', 'principals')}"
        f" ({len(denials.rows)} different)."
    )


def _unused_note(unused_acls: Outcome | None) -> str:
    if unused_acls is None:
        return "Unused ACLs: not examined; --acls FILE says which ACLs are in force."
    removable, unknown = (
        sum(1 for row in unused_acls.rows if row[name]) for name in ("can_go", "not_known")
    )
    text = f"Unused ACLs: {removable} of {len(unused_acls.rows)} can be removed"
    if unknown:
        text += f"; of {unknown} others it is not known whether they are needed"
    return f"{text}{_incompleteness(unused_acls)}."


def _incompleteness(part: Outcome) -> str:
    """Return what a summary has to say about a part whose input is incomplete."""
    return "; unproven, since the input is incomplete" if part.totals["incomplete_input"] else ""


def _plural(number: int, singular: str, plural: str) -> str:
    return f"{number} {singular if number == 1 else plural}"
