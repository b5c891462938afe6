"""Decisions that a person must make about a new release, as text and JSON."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from tests.releases.differing import AREAS, Finding

ALWAYS: Final = (
    "read the upgrade notes and KIPs of the release: what changed behind unchanged versions",
    "play fresh scenarios: python -m tests.oracle RELEASE, also with --stateful",
    "CHANGELOG.md, README.md: the newest release; python -m tests.releases table",
    "make check",
)


def as_text(old: str, new: str, found: Sequence[Finding]) -> str:
    """Return the checklist as Markdown, by area."""
    lines = [f"# Kafka {new} against {old}", ""]
    for area, task in AREAS.items():
        rows = [finding for finding in found if finding.area == area]
        if rows:
            lines += [f"## {area} ({len(rows)}): {task}", ""]
            lines += [f"- [ ] {row.subject}: {row.what}" for row in rows]
            lines.append("")
    lines += ["## always", "", *(f"- [ ] {task}" for task in ALWAYS)]
    return "\n".join(lines)


def as_json(old: str, new: str, found: Sequence[Finding]) -> str:
    """Return the checklist as JSON: findings by area, and what to do about each area."""
    areas = {
        area: {"task": task, "findings": [row for row in found if row.area == area]}
        for area, task in AREAS.items()
    }
    told = {"release": new, "against": old, "areas": areas, "always": ALWAYS}
    return msgspec.json.format(msgspec.json.encode(told), indent=1).decode()


def responses(counts: Iterable[tuple[str, tuple[Mapping[str, int], int]]]) -> list[Finding]:
    """Return a finding for each API of a recording with different responses."""
    return [
        Finding("responses", api, f"{count} of the {played} answers in {name} differ")
        for name, (differing, played) in counts
        for api, count in sorted(differing.items())
    ]
