"""The denials and refused authentications of a broker as text, for a failed test's report."""

from collections.abc import Iterable, Mapping
from typing import Any

from kafka_shim.policy.formats.rule_lines import rule_line


def deduplicated_denials_text(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return one paragraph for each distinct denial."""
    counts: dict[tuple[str, ...], int] = {}
    for row in rows:
        remedy = row["would_allow"] or {"add": [], "remove": [], "advice": ""}
        resource = f"{row['resource_type']} {row['resource_name']}"
        key = (
            f"{row['principal']} was denied {row['operation']} on {resource}",
            f"{row['api']} v{row['version']}",
            row["rule"],
            _remedy_text(remedy),
        )
        counts[key] = counts.get(key, 0) + 1
    return "\n".join(
        f"{denial} ({api}{_repetition_suffix(count)}): {why}{advice}"
        for (denial, api, why, advice), count in counts.items()
    )


def deduplicated_failed_authentications_text(
    rows: Iterable[Mapping[str, Any]], enabled_mechanisms: Mapping[str, Iterable[str]]
) -> str:
    """Return one line for each distinct failed authentication; mechanisms are by listener."""
    counts: dict[str, int] = {}
    for row in rows:
        if row["error"] is None:
            continue
        user = "a client without a readable name" if row["user"] is None else row["user"]
        mechanisms = ", ".join(enabled_mechanisms.get(row["listener"], ())) or "nothing"
        line = (
            f"{user} was refused on {row['listener']} by {row['mechanism']}: {row['error']}"
            f" (enabled: {mechanisms})"
        )
        counts[line] = counts.get(line, 0) + 1
    return "\n".join(f"{line}{_repetition_suffix(count)}" for line, count in counts.items())


def _remedy_text(remedy: Mapping[str, Any]) -> str:
    """Return the lines about what would allow the whole request."""
    added, removed = remedy["add"], remedy["remove"]
    if not added and not removed:
        return ""
    advice = f"\n  ({remedy['advice']})" if remedy["advice"] else ""
    if len(added) == 1 and not removed:
        return f"\n  the smallest ACL that allows it: {rule_line(added[0])}{advice}"
    lines = [f"remove {rule_line(rule)}" for rule in removed]
    lines += [f"add {rule_line(rule)}" for rule in added]
    lead = "DENY always wins; " if removed else ""
    if len(lines) == 1:
        return f"\n  {lead}to allow it, {lines[0]}{advice}"
    return f"\n  {lead}to allow it, all of:" + "".join(f"\n    {line}" for line in lines) + advice


def _repetition_suffix(count: int) -> str:
    return "" if count == 1 else f", {count} times"
