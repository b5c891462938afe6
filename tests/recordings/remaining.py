"""Scenarios that do not yet come out as on a real broker, or changed since they were recorded.

`tests/golden/remaining_scenarios.txt` lists them by kind, release and scenario; one must differ
exactly if it is listed. `python -m tests.recordings.remaining` writes the list anew; it may only
shrink.
"""

from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden" / "remaining_scenarios.txt"


def listed(kind: str) -> set[tuple[str, str]]:
    """Release and scenario of what is known to differ."""
    rows = (line.split() for line in GOLDEN.read_text().splitlines() if not line.startswith("#"))
    return {(row[1], row[2]) for row in rows if row and row[0] == kind}


def write() -> None:
    """Play everything and list what differs."""
    from tests.recordings.groups import test_groups as groups
    from tests.recordings.records import test_records as records

    lines = ["# kind, release, scenario; made by `python -m tests.recordings.remaining`"]
    for release, name in records.PAIRS:
        if records.differing(release, name):
            lines.append(f"records {release} {name}")
    for release, name in groups.PAIRS:
        if (release, name) not in groups.UNLIKE and groups.differing(release, name):
            lines.append(f"groups {release} {name}")
    GOLDEN.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    write()
