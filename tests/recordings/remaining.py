"""Lists the scenarios in which the shim differs from the recording.

`tests/golden/remaining_scenarios.txt` has them by kind, release and scenario; a scenario must
differ exactly if it is listed. `python -m tests.recordings.remaining` writes the list again; it may
only shrink.
"""

from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden" / "remaining_scenarios.txt"


def listed(kind: str) -> set[tuple[str, str]]:
    """Return release and scenario of known differences."""
    rows = (line.split() for line in GOLDEN.read_text().splitlines() if not line.startswith("#"))
    return {(row[1], row[2]) for row in rows if row and row[0] == kind}


def write() -> None:
    """Play all scenarios, and write the list of differences."""
    from tests.recordings.comparing import differing, recorded_pairs
    from tests.recordings.groups.test_groups import UNLIKE
    from tests.recordings.kinds import KINDS

    lines = ["# kind, release, scenario; made by `python -m tests.recordings.remaining`"]
    for kind in ("records", "groups"):
        lines += [
            f"{kind} {release} {name}"
            for release, name in recorded_pairs(KINDS[kind])
            if (release, name) not in UNLIKE and differing(KINDS[kind], release, name)
        ]
    GOLDEN.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    write()
