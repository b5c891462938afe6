"""The denials of a broker as text, for the report of a failed test."""

from collections.abc import Iterable, Mapping
from typing import Any

from kafka_shim.shim.explaining.remedy import rule_text


def denials_text(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return one paragraph for each distinct denial."""
    counts: dict[tuple[str, ...], int] = {}
    for row in rows:
        would = row["would_allow"] or {}
        verb, rule = next(iter(would.items()), ("", {}))
        resource = f"{row['resource_type']} {row['resource_name']}"
        key = (
            f"{row['principal']} was denied {row['operation']} on {resource}",
            f"{row['api']} v{row['version']}",
            row["rule"] if verb == "remove" else row["because"],
            _advice(verb, rule),
        )
        counts[key] = counts.get(key, 0) + 1
    return "\n".join(
        f"{what} ({api}{_times(count)}): {why}{advice}"
        for (what, api, why, advice), count in counts.items()
    )


def _advice(verb: str, rule: Mapping[str, Any]) -> str:
    if not verb:
        return ""
    if verb == "add":
        return f"\n  the smallest ACL that allows it: {rule_text(rule)}"
    return f"\n  DENY always wins; to allow it, remove {rule_text(rule)}"


def _times(count: int) -> str:
    return "" if count == 1 else f", {count} times"
